//! The ten pairs that come with the library: models fitted to the public lap times of Formula One, 1996 to 2022.
//!
//! Maximum likelihood of `beta·exp(-alpha·k) - gamma·k` on the laps from the first until the first stop, normalised by
//! race. How the ten were chosen is documented with the laboratory's `f1` module, which makes this table again from the lap times.

use super::pair::{FittedDriver, FittedPair};

pub(super) const GERMAN_2001: FittedPair = FittedPair {
    name: "2001-german",
    year: 2001,
    race: "German Grand Prix",
    laps: 10,
    drivers: [
        FittedDriver {
            name: "Kimi Räikkönen",
            alpha: 0.2010067034118782,
            beta: 0.18242516410621418,
            gamma: 0.0,
            sd: 0.03600342014913891,
            sse: 0.012962462624354217,
            r_squared: 0.4515099852829866,
        },
        FittedDriver {
            name: "Eddie Irvine",
            alpha: 0.21074598740240022,
            beta: 0.19269205815245308,
            gamma: 0.0,
            sd: 0.037072583240443865,
            sse: 0.013743764281196393,
            r_squared: 0.4574406302847449,
        },
    ],
};

pub(super) const GERMAN_2014: FittedPair = FittedPair {
    name: "2014-german",
    year: 2014,
    race: "German Grand Prix",
    laps: 8,
    drivers: [
        FittedDriver {
            name: "Lewis Hamilton",
            alpha: 0.7053662696929699,
            beta: 1.8628033729049878,
            gamma: 0.0,
            sd: 0.06902690441793058,
            sse: 0.038117708268176995,
            r_squared: 0.9463947992816485,
        },
        FittedDriver {
            name: "Jules Bianchi",
            alpha: 0.6800987043945785,
            beta: 1.8564940052720549,
            gamma: 0.0,
            sd: 0.07547634932027718,
            sse: 0.045573434453732034,
            r_squared: 0.9347841803305212,
        },
    ],
};

pub(super) const HUNGARIAN_2011: FittedPair = FittedPair {
    name: "2011-hungarian",
    year: 2011,
    race: "Hungarian Grand Prix",
    laps: 9,
    drivers: [
        FittedDriver {
            name: "Michael Schumacher",
            alpha: 0.07744854899722513,
            beta: 0.5090346837721785,
            gamma: 0.0,
            sd: 0.028727019487492313,
            sse: 0.007427174837712869,
            r_squared: 0.8491015227794211,
        },
        FittedDriver {
            name: "Sergio Pérez",
            alpha: 0.10379261781895166,
            beta: 0.6456710033434471,
            gamma: 0.0,
            sd: 0.04124785540779856,
            sse: 0.01531247018168391,
            r_squared: 0.859863588774885,
        },
    ],
};

pub(super) const AUSTRIAN_2021: FittedPair = FittedPair {
    name: "2021-austrian",
    year: 2021,
    race: "Austrian Grand Prix",
    laps: 11,
    drivers: [
        FittedDriver {
            name: "Nicholas Latifi",
            alpha: 0.37922720947482824,
            beta: 1.4243508677167682,
            gamma: 0.0,
            sd: 0.08964431867418195,
            sse: 0.08839714257614115,
            r_squared: 0.9092987010652245,
        },
        FittedDriver {
            name: "Nikita Mazepin",
            alpha: 0.3828524655235999,
            beta: 1.4593470120109215,
            gamma: 0.0,
            sd: 0.08409469774912612,
            sse: 0.07779110008468565,
            r_squared: 0.9207320779641143,
        },
    ],
};

pub(super) const HUNGARIAN_2022: FittedPair = FittedPair {
    name: "2022-hungarian",
    year: 2022,
    race: "Hungarian Grand Prix",
    laps: 12,
    drivers: [
        FittedDriver {
            name: "Pierre Gasly",
            alpha: 0.45532561080927725,
            beta: 1.2205803719560346,
            gamma: 0.0,
            sd: 0.09603635929164067,
            sse: 0.11067578767191716,
            r_squared: 0.816131516266686,
        },
        FittedDriver {
            name: "Guanyu Zhou",
            alpha: 0.4062911548666455,
            beta: 1.0705542627929567,
            gamma: 0.0,
            sd: 0.10312189539765693,
            sse: 0.12760950372486357,
            r_squared: 0.7653383002467296,
        },
    ],
};

pub(super) const CANADIAN_2008: FittedPair = FittedPair {
    name: "2008-canadian",
    year: 2008,
    race: "Canadian Grand Prix",
    laps: 13,
    drivers: [
        FittedDriver {
            name: "Nick Heidfeld",
            alpha: 0.6086650876448974,
            beta: 0.3067636771185642,
            gamma: 0.0,
            sd: 0.016274299530928144,
            sse: 0.003443086727890784,
            r_squared: 0.865484822608405,
        },
        FittedDriver {
            name: "Nico Rosberg",
            alpha: 0.893012506710527,
            beta: 0.329289705976456,
            gamma: 0.0,
            sd: 0.012498123623138313,
            sse: 0.0020306402232902233,
            r_squared: 0.8582246203754428,
        },
    ],
};

pub(super) const ABU_DHABI_2009: FittedPair = FittedPair {
    name: "2009-abu-dhabi",
    year: 2009,
    race: "Abu Dhabi Grand Prix",
    laps: 15,
    drivers: [
        FittedDriver {
            name: "Mark Webber",
            alpha: 0.4723405038333854,
            beta: 0.4564497867027519,
            gamma: 0.0,
            sd: 0.019363913924737686,
            sse: 0.005624417437269751,
            r_squared: 0.9330517577123397,
        },
        FittedDriver {
            name: "Rubens Barrichello",
            alpha: 0.5573551881786643,
            beta: 0.6368343897756092,
            gamma: 0.0,
            sd: 0.027056483809444056,
            sse: 0.010980799741960624,
            r_squared: 0.9154354486493759,
        },
    ],
};

pub(super) const SINGAPORE_2009: FittedPair = FittedPair {
    name: "2009-singapore",
    year: 2009,
    race: "Singapore Grand Prix",
    laps: 16,
    drivers: [
        FittedDriver {
            name: "Timo Glock",
            alpha: 0.6960828625679093,
            beta: 0.2621878816269596,
            gamma: 0.0,
            sd: 0.012960235956914732,
            sse: 0.0026874834569424882,
            r_squared: 0.816292631907214,
        },
        FittedDriver {
            name: "Jenson Button",
            alpha: 0.46828538335307923,
            beta: 0.2605331701963972,
            gamma: 0.0,
            sd: 0.019491198115307317,
            sse: 0.006078508863522551,
            r_squared: 0.7593350649452068,
        },
    ],
};

pub(super) const SAKHIR_2020: FittedPair = FittedPair {
    name: "2020-sakhir",
    year: 2020,
    race: "Sakhir Grand Prix",
    laps: 19,
    drivers: [
        FittedDriver {
            name: "Kimi Räikkönen",
            alpha: 0.1938647328797048,
            beta: 0.8802329127089926,
            gamma: 0.0,
            sd: 0.0804973835183787,
            sse: 0.123116746312794,
            r_squared: 0.8625803708326718,
        },
        FittedDriver {
            name: "Pietro Fittipaldi",
            alpha: 0.18730804087988648,
            beta: 0.8571496653444584,
            gamma: 0.0,
            sd: 0.08224412681987166,
            sse: 0.12851783153089952,
            r_squared: 0.8528525629618644,
        },
    ],
};

pub(super) const FRENCH_2018: FittedPair = FittedPair {
    name: "2018-french",
    year: 2018,
    race: "French Grand Prix",
    laps: 24,
    drivers: [
        FittedDriver {
            name: "Stoffel Vandoorne",
            alpha: 0.2175031265300706,
            beta: 0.6900949634745531,
            gamma: 0.0,
            sd: 0.059246785585545095,
            sse: 0.0842443584532693,
            r_squared: 0.8576971170160661,
        },
        FittedDriver {
            name: "Brendon Hartley",
            alpha: 0.21970505024665568,
            beta: 0.7016632460567371,
            gamma: 0.0,
            sd: 0.05800726438831662,
            sse: 0.08075622532358556,
            r_squared: 0.8650383291707139,
        },
    ],
};
