//! Lane advisors as JSON.

/// Maps with numbers as keys, as lists of pairs: JSON has no numbers as keys.
pub(super) mod pairs {
    use std::collections::BTreeMap;

    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<V: Serialize, S: Serializer>(
        map: &BTreeMap<u64, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(in super::super) fn deserialize<'de, V: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<u64, V>, D::Error> {
        Vec::<(u64, V)>::deserialize(deserializer).map(|pairs| pairs.into_iter().collect())
    }
}
