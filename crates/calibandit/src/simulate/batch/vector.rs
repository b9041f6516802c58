//! Arithmetic on several numbers at once.
//!
//! [`Vector`] lists the operations that the lanes need. It is implemented with plain arrays for every processor and
//! with AVX2 for processors that have it, detected at run time. All operations are exact or rounded as IEEE 754
//! prescribes, so both implementations give the same bits.

/// Operations on `L` floats or `L` words at once. Masks are words of all ones or all zeros.
pub(super) trait Vector<const L: usize>: Copy {
    type F: Copy;
    type U: Copy;
    fn f(self, floats: &[f64; L]) -> Self::F;
    fn u(self, words: &[u64; L]) -> Self::U;
    fn floats(self, f: Self::F) -> [f64; L];
    fn words(self, u: Self::U) -> [u64; L];
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// a < b; false for NaN.
    fn less(self, a: Self::F, b: Self::F) -> Self::U;
    /// a >= b; false for NaN.
    fn not_less(self, a: Self::F, b: Self::F) -> Self::U;
    /// The integer part of numbers from 0 to below 2^31.
    fn integers(self, f: Self::F) -> Self::U;
    fn bits(self, f: Self::F) -> Self::U;
    fn as_floats(self, u: Self::U) -> Self::F;
    fn plus(self, a: Self::U, b: Self::U) -> Self::U;
    fn minus(self, a: Self::U, b: Self::U) -> Self::U;
    fn xor(self, a: Self::U, b: Self::U) -> Self::U;
    fn or(self, a: Self::U, b: Self::U) -> Self::U;
    fn and(self, a: Self::U, b: Self::U) -> Self::U;
    /// Both below 2^63.
    fn above(self, a: Self::U, b: Self::U) -> Self::U;
    fn equal(self, a: Self::U, b: Self::U) -> Self::U;
    fn left<const BY: i32>(self, u: Self::U) -> Self::U;
    fn right<const BY: i32>(self, u: Self::U) -> Self::U;
    fn left_by(self, u: Self::U, by: u64) -> Self::U;
    /// `yes` where the mask is set, `no` elsewhere.
    fn choose(self, mask: Self::U, yes: Self::U, no: Self::U) -> Self::U;
    /// Whether a mask is set anywhere.
    fn any(self, mask: Self::U) -> bool;

    #[inline(always)]
    fn splat(self, value: f64) -> Self::F {
        self.f(&[value; L])
    }
    #[inline(always)]
    fn splat_word(self, value: u64) -> Self::U {
        self.u(&[value; L])
    }
}

/// Plain arrays, for any processor.
#[derive(Clone, Copy)]
pub(super) struct PlainArrays;

macro_rules! plain {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $out:ty, $result:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($argument: $kind),*) -> $out {
            std::array::from_fn(|lane| {
                $(let $argument = $argument[lane];)*
                $result
            })
        })*
    };
}

fn mask(condition: bool) -> u64 {
    if condition { u64::MAX } else { 0 }
}

impl<const L: usize> Vector<L> for PlainArrays {
    type F = [f64; L];
    type U = [u64; L];
    plain! {
        f(floats: &[f64; L]) -> [f64; L], floats;
        u(words: &[u64; L]) -> [u64; L], words;
        floats(f: [f64; L]) -> [f64; L], f;
        words(u: [u64; L]) -> [u64; L], u;
        add(a: [f64; L], b: [f64; L]) -> [f64; L], a + b;
        sub(a: [f64; L], b: [f64; L]) -> [f64; L], a - b;
        mul(a: [f64; L], b: [f64; L]) -> [f64; L], a * b;
        div(a: [f64; L], b: [f64; L]) -> [f64; L], a / b;
        min(a: [f64; L], b: [f64; L]) -> [f64; L], if a < b { a } else { b };
        less(a: [f64; L], b: [f64; L]) -> [u64; L], mask(a < b);
        not_less(a: [f64; L], b: [f64; L]) -> [u64; L], mask(a >= b);
        integers(f: [f64; L]) -> [u64; L], f as u32 as u64;
        bits(f: [f64; L]) -> [u64; L], f.to_bits();
        as_floats(u: [u64; L]) -> [f64; L], f64::from_bits(u);
        plus(a: [u64; L], b: [u64; L]) -> [u64; L], a.wrapping_add(b);
        minus(a: [u64; L], b: [u64; L]) -> [u64; L], a.wrapping_sub(b);
        xor(a: [u64; L], b: [u64; L]) -> [u64; L], a ^ b;
        or(a: [u64; L], b: [u64; L]) -> [u64; L], a | b;
        and(a: [u64; L], b: [u64; L]) -> [u64; L], a & b;
        above(a: [u64; L], b: [u64; L]) -> [u64; L], mask(a > b);
        equal(a: [u64; L], b: [u64; L]) -> [u64; L], mask(a == b);
        choose(mask: [u64; L], yes: [u64; L], no: [u64; L]) -> [u64; L], mask & yes | !mask & no;
    }
    #[inline(always)]
    fn left<const BY: i32>(self, u: [u64; L]) -> [u64; L] {
        u.map(|word| word << BY)
    }
    #[inline(always)]
    fn right<const BY: i32>(self, u: [u64; L]) -> [u64; L] {
        u.map(|word| word >> BY)
    }
    #[inline(always)]
    fn left_by(self, u: [u64; L], by: u64) -> [u64; L] {
        u.map(|word| word << by)
    }
    #[inline(always)]
    fn any(self, mask: [u64; L]) -> bool {
        mask != [0; L]
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{__m256d, __m256i, _CMP_GE_OQ, _CMP_LT_OQ};

    use pulp::bytemuck::cast;
    use pulp::x86::V3;

    use super::Vector;

    macro_rules! avx2 {
        ($($name:ident($($argument:ident: $kind:ty),*) -> $out:ty, $simd:ident: $result:expr;)*) => {
            $(#[inline(always)]
            fn $name(self, $($argument: $kind),*) -> $out {
                let $simd = self;
                $result
            })*
        };
    }

    impl Vector<4> for V3 {
        type F = __m256d;
        type U = __m256i;
        avx2! {
            f(floats: &[f64; 4]) -> __m256d, s: { let _ = s; cast(*floats) };
            u(words: &[u64; 4]) -> __m256i, s: { let _ = s; cast(*words) };
            floats(f: __m256d) -> [f64; 4], s: { let _ = s; cast(f) };
            words(u: __m256i) -> [u64; 4], s: { let _ = s; cast(u) };
            add(a: __m256d, b: __m256d) -> __m256d, s: s.avx._mm256_add_pd(a, b);
            sub(a: __m256d, b: __m256d) -> __m256d, s: s.avx._mm256_sub_pd(a, b);
            mul(a: __m256d, b: __m256d) -> __m256d, s: s.avx._mm256_mul_pd(a, b);
            div(a: __m256d, b: __m256d) -> __m256d, s: s.avx._mm256_div_pd(a, b);
            min(a: __m256d, b: __m256d) -> __m256d, s: s.avx._mm256_min_pd(a, b);
            less(a: __m256d, b: __m256d) -> __m256i, s: cast(s.avx._mm256_cmp_pd::<_CMP_LT_OQ>(a, b));
            not_less(a: __m256d, b: __m256d) -> __m256i, s: cast(s.avx._mm256_cmp_pd::<_CMP_GE_OQ>(a, b));
            integers(f: __m256d) -> __m256i, s: s.avx2._mm256_cvtepi32_epi64(s.avx._mm256_cvttpd_epi32(f));
            bits(f: __m256d) -> __m256i, s: { let _ = s; cast(f) };
            as_floats(u: __m256i) -> __m256d, s: { let _ = s; cast(u) };
            plus(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_add_epi64(a, b);
            minus(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_sub_epi64(a, b);
            xor(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_xor_si256(a, b);
            or(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_or_si256(a, b);
            and(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_and_si256(a, b);
            above(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_cmpgt_epi64(a, b);
            equal(a: __m256i, b: __m256i) -> __m256i, s: s.avx2._mm256_cmpeq_epi64(a, b);
            choose(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i,
                s: s.avx2._mm256_blendv_epi8(no, yes, mask);
            left_by(u: __m256i, by: u64) -> __m256i, s: s.avx2._mm256_sllv_epi64(u, Vector::splat_word(s, by));
            any(mask: __m256i) -> bool, s: s.avx._mm256_movemask_pd(cast(mask)) != 0;
        }
        #[inline(always)]
        fn left<const BY: i32>(self, u: __m256i) -> __m256i {
            self.avx2._mm256_slli_epi64::<BY>(u)
        }
        #[inline(always)]
        fn right<const BY: i32>(self, u: __m256i) -> __m256i {
            self.avx2._mm256_srli_epi64::<BY>(u)
        }
    }

    /// Two AVX2 registers, eight numbers: enough independent work to hide the latency of the instructions.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2Pair(pub(super) V3);

    type F = [__m256d; 2];
    type U = [__m256i; 2];

    macro_rules! pair {
        ($($name:ident($($argument:ident: $kind:ty),*) -> $out:ty;)*) => {
            $(#[inline(always)]
            fn $name(self, $($argument: $kind),*) -> $out {
                [Vector::$name(self.0, $($argument[0]),*), Vector::$name(self.0, $($argument[1]),*)]
            })*
        };
    }

    impl Vector<8> for Avx2Pair {
        type F = F;
        type U = U;
        #[inline(always)]
        fn f(self, floats: &[f64; 8]) -> F {
            cast(*floats)
        }
        #[inline(always)]
        fn u(self, words: &[u64; 8]) -> U {
            cast(*words)
        }
        #[inline(always)]
        fn floats(self, f: F) -> [f64; 8] {
            cast(f)
        }
        #[inline(always)]
        fn words(self, u: U) -> [u64; 8] {
            cast(u)
        }
        pair! {
            add(a: F, b: F) -> F;
            sub(a: F, b: F) -> F;
            mul(a: F, b: F) -> F;
            div(a: F, b: F) -> F;
            min(a: F, b: F) -> F;
            less(a: F, b: F) -> U;
            not_less(a: F, b: F) -> U;
            integers(f: F) -> U;
            bits(f: F) -> U;
            as_floats(u: U) -> F;
            plus(a: U, b: U) -> U;
            minus(a: U, b: U) -> U;
            xor(a: U, b: U) -> U;
            or(a: U, b: U) -> U;
            and(a: U, b: U) -> U;
            above(a: U, b: U) -> U;
            equal(a: U, b: U) -> U;
            choose(mask: U, yes: U, no: U) -> U;
        }
        #[inline(always)]
        fn left<const BY: i32>(self, u: U) -> U {
            u.map(|half| Vector::left::<BY>(self.0, half))
        }
        #[inline(always)]
        fn right<const BY: i32>(self, u: U) -> U {
            u.map(|half| Vector::right::<BY>(self.0, half))
        }
        #[inline(always)]
        fn left_by(self, u: U, by: u64) -> U {
            u.map(|half| Vector::left_by(self.0, half, by))
        }
        #[inline(always)]
        fn any(self, mask: U) -> bool {
            Vector::any(self.0, Vector::or(self.0, mask[0], mask[1]))
        }
    }
}

/// A computation that is generic over vectors.
pub(super) trait VectorTask {
    type Output;
    /// Must be inlined, like every function that it calls with vectors: code that is not inlined is compiled without
    /// AVX2.
    fn run(self, eight: impl Vector<8>, four: impl Vector<4>) -> Self::Output;
}

/// Runs a task with the best vectors that this processor has.
pub(super) fn dispatch<T: VectorTask>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        struct WithAvx2<T>(T, pulp::x86::V3);
        impl<T: VectorTask> pulp::NullaryFnOnce for WithAvx2<T> {
            type Output = T::Output;
            #[inline(always)]
            fn call(self) -> T::Output {
                self.0.run(avx2::Avx2Pair(self.1), self.1)
            }
        }
        return v3.vectorize(WithAvx2(task, v3));
    }
    task.run(PlainArrays, PlainArrays)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of every operation on these numbers, as words.
    fn all<const L: usize, V: Vector<L>>(v: V, a: [f64; L], b: [f64; L], x: [u64; L], y: [u64; L]) -> Vec<[u64; L]> {
        let (f, g, p, q) = (v.f(&a), v.f(&b), v.u(&x), v.u(&y));
        let floats = [v.add(f, g), v.sub(f, g), v.mul(f, g), v.div(f, g), v.min(f, g), v.splat(1.5), v.as_floats(p)];
        let positive = (v.right::<1>(p), v.right::<1>(q));
        let small = v.f(&x.map(|word| (word >> 33) as f64 / 7.0));
        let mask = v.less(f, g);
        let words = [
            v.less(f, g),
            v.not_less(f, g),
            v.integers(small),
            v.bits(f),
            v.plus(p, q),
            v.minus(p, q),
            v.xor(p, q),
            v.or(p, q),
            v.and(p, q),
            v.above(positive.0, positive.1),
            v.equal(p, q),
            v.left::<23>(p),
            v.right::<41>(p),
            v.left_by(p, 5),
            v.choose(mask, p, q),
            v.splat_word(7),
        ];
        let any = [u64::from(v.any(mask)), u64::from(v.any(v.xor(p, p)))];
        let floats = floats.into_iter().map(|f| v.floats(f).map(f64::to_bits));
        floats.chain(words.into_iter().map(|u| v.words(u))).chain(any.map(|any| [any; L])).collect()
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    #[ignore = "needs AVX2"]
    fn avx2_and_plain_arrays_give_the_same_bits() {
        let v3 = pulp::x86::V3::try_new().expect("this test is only run on a processor with AVX2");
        let mut state = 5u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        for round in 0..2000 {
            let mut float = |_| if round % 3 == 0 { f64::from(word() as i32) } else { (word() >> 11) as f64 * 1e-16 };
            let (a, b): ([f64; 8], [f64; 8]) = (std::array::from_fn(&mut float), std::array::from_fn(&mut float));
            let (x, mut y): ([u64; 8], [u64; 8]) = (std::array::from_fn(|_| word()), std::array::from_fn(|_| word()));
            y[3] = x[3];
            assert_eq!(all(avx2::Avx2Pair(v3), a, b, x, y), all(PlainArrays, a, b, x, y));
            let half = |all: [f64; 8]| -> [f64; 4] { std::array::from_fn(|lane| all[lane]) };
            let half_words = |all: [u64; 8]| -> [u64; 4] { std::array::from_fn(|lane| all[lane]) };
            let (a, b, x, y) = (half(a), half(b), half_words(x), half_words(y));
            assert_eq!(all(v3, a, b, x, y), all(PlainArrays, a, b, x, y));
        }
    }
}
