//! The few statistics that a comparison needs.

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Wilson's score interval of a proportion at 95 % (Wilson 1927; z = 1.96): it behaves at 0 and 1 and for few cases.
/// None without cases.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn wilson95(successes: usize, total: usize) -> Option<Interval> {
    if total == 0 {
        return None;
    }
    let (n, z) = (total as f64, 1.959_963_984_540_054);
    let p = successes as f64 / n;
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let (centre, scale) = (p + z * z / (2.0 * n), 1.0 + z * z / n);
    Some(Interval { low: ((centre - spread) / scale).max(0.0), high: ((centre + spread) / scale).min(1.0) })
}

/// McNemar's exact test, two-sided: how likely it is that of `gained + lost` changes at least so many go one way, if either way
/// is as likely (McNemar 1947; the binomial distribution instead of the approximation).
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn mcnemar_exact(gained: usize, lost: usize) -> f64 {
    let (n, fewer) = (gained + lost, gained.min(lost));
    // C(n, k) / 2^n as sums of logarithms: no factor overflows.
    let log_factorial = |m: usize| (1..=m).map(|i| (i as f64).ln()).sum::<f64>();
    let whole = log_factorial(n) - n as f64 * std::f64::consts::LN_2;
    let tail: f64 = (0..=fewer).map(|k| (whole - log_factorial(k) - log_factorial(n - k)).exp()).sum();
    (2.0 * tail).min(1.0)
}

/// The 95 % interval of the difference of two paired proportions (Bonett and Price 2012: Wald's, with one change of each kind
/// added). None without pairs.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn paired_difference95(gained: usize, lost: usize, total: usize) -> Option<Interval> {
    if total == 0 {
        return None;
    }
    let n = total as f64 + 2.0;
    let (up, down) = ((gained as f64 + 1.0) / n, (lost as f64 + 1.0) / n);
    let difference = up - down;
    let spread = 1.959_963_984_540_054 * ((up + down - difference * difference) / n).sqrt();
    Some(Interval { low: (difference - spread).max(-1.0), high: (difference + spread).min(1.0) })
}

/// Cohen's kappa of pairs of ratings, each an index below `levels`: agreement beyond chance. Where chance alone
/// explains everything (one level only), 1 for full agreement.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(crate) fn kappa(pairs: &[(usize, usize)], levels: usize) -> f64 {
    let n = pairs.len() as f64;
    let agreed = pairs.iter().filter(|(a, b)| a == b).count() as f64 / n;
    let share =
        |of: &dyn Fn(&(usize, usize)) -> usize, level| pairs.iter().filter(|p| of(p) == level).count() as f64 / n;
    let by_chance: f64 = (0..levels).map(|level| share(&|p| p.0, level) * share(&|p| p.1, level)).sum();
    if by_chance >= 1.0 {
        return if agreed >= 1.0 { 1.0 } else { 0.0 };
    }
    (agreed - by_chance) / (1.0 - by_chance)
}

/// Resamples of a bootstrap: enough for stable second decimals.
const RESAMPLES: usize = 2_000;

/// The percentile bootstrap interval (Efron 1979) of kappa at 95 %. The generator's seed is fixed, so that the same
/// pairs give the same interval.
#[must_use]
pub(crate) fn kappa_interval(pairs: &[(usize, usize)], levels: usize) -> Interval {
    let mut random = fastrand::Rng::with_seed(20_261_201);
    let mut sample = vec![(0, 0); pairs.len()];
    let mut kappas: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            sample.fill_with(|| pairs[random.usize(..pairs.len())]);
            kappa(&sample, levels)
        })
        .collect();
    kappas.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    Interval { low: kappas[tail], high: kappas[RESAMPLES - 1 - tail] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paired_changes_are_judged_as_the_tables_do() {
        // Values of R's binom.test(min(b, c), b + c)$p.value.
        for (gained, lost, p) in [(0, 0, 1.0), (1, 1, 1.0), (5, 0, 0.0625), (10, 2, 0.038_574_218_75), (3, 7, 0.343_75)]
        {
            assert!((mcnemar_exact(gained, lost) - p).abs() < 1e-9, "{gained} {lost}: {}", mcnemar_exact(gained, lost));
        }
        assert!(mcnemar_exact(4000, 3000) < 1e-9);
        assert_eq!(paired_difference95(0, 0, 0), None);
        let interval = paired_difference95(10, 2, 50).expect("pairs");
        assert!(interval.low > 0.0 && interval.low < 8.0 / 50.0 && interval.high > 8.0 / 50.0, "{interval:?}");
        let same = paired_difference95(3, 3, 50).expect("pairs");
        assert!((same.low + same.high).abs() < 1e-12);
    }

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe 1998, table 1: 81 of 263 is (0.2553, 0.3662), 0 of 20 is (0, 0.1611).
        let interval = wilson95(81, 263).expect("cases");
        assert!((interval.low - 0.2553).abs() < 1e-4 && (interval.high - 0.3662).abs() < 1e-4);
        let interval = wilson95(0, 20).expect("cases");
        assert!(interval.low == 0.0 && (interval.high - 0.1611).abs() < 1e-4);
        assert_eq!(wilson95(0, 0), None);
    }

    #[test]
    fn kappa_agrees_with_a_worked_example() {
        // 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5, kappa 0.4.
        let mut pairs = vec![(0, 0); 20];
        pairs.extend([(0, 1); 5]);
        pairs.extend([(1, 0); 10]);
        pairs.extend([(1, 1); 15]);
        assert!((kappa(&pairs, 2) - 0.4).abs() < 1e-12);
        let interval = kappa_interval(&pairs, 2);
        assert!(interval.low < 0.4 && 0.4 < interval.high && interval.low > 0.0);
        assert_eq!(interval, kappa_interval(&pairs, 2));
        assert_eq!(kappa(&[(1, 1), (1, 1)], 2).to_bits(), 1.0_f64.to_bits());
    }
}
