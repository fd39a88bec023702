//! A rotating sample of the cases: another one for each commit, the same one for the same commit.

use super::case::{Case, Vehicle};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Takes `count` cases, from each vehicle in proportion to how many it has and at least one.
pub fn take(cases: Vec<(Vehicle, Case)>, count: usize, turn: &str) -> Vec<(Vehicle, Case)> {
    let all = cases.len().max(1);
    let mut by_vehicle: BTreeMap<Vehicle, Vec<Case>> = BTreeMap::new();
    for (vehicle, case) in cases {
        by_vehicle.entry(vehicle).or_default().push(case);
    }
    let mut sample = Vec::new();
    for (vehicle, mut cases) in by_vehicle {
        cases.sort_by_cached_key(|case| Sha256::digest(format!("{turn} {}", case.name)).to_vec());
        let share = (cases.len() * count).div_ceil(all);
        sample.extend(cases.into_iter().take(share).map(|case| (vehicle, case)));
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(turn: &str) -> Vec<String> {
        let case = |vehicle: Vehicle, number: usize| {
            let name = format!("set/{vehicle:?}-{number}");
            (vehicle, Case { folder: name.clone().into(), name, yaml: serde_yaml::Value::Null })
        };
        let cases = (0..90).map(|n| case(Vehicle::Files, n)).chain((0..10).map(|n| case(Vehicle::Hive, n))).collect();
        take(cases, 20, turn).into_iter().map(|(_, case)| case.name).collect()
    }

    #[test]
    fn a_turn_has_one_sample_of_every_vehicle_s_cases() {
        let sample = names("commit a");
        assert_eq!(sample, names("commit a"));
        assert_ne!(sample, names("commit b"));
        assert_eq!(sample.iter().filter(|name| name.contains("Files")).count(), 18);
        assert_eq!(sample.iter().filter(|name| name.contains("Hive")).count(), 2);
    }
}
