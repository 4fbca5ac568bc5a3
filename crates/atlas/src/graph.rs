//! The graph of causes.

use std::collections::VecDeque;

use crate::atlas::Atlas;
use crate::mechanism::MechanismIx;

/// Causes and effects of every mechanism, with the distance between any two.
#[derive(Debug)]
pub(crate) struct Graph {
    causes: Vec<Vec<MechanismIx>>,
    effects: Vec<Vec<MechanismIx>>,
    feedback: Vec<Vec<MechanismIx>>,
    /// `distance[cause][effect]`: edges on the shortest causal path; [`UNREACHABLE`] without one.
    distance: Vec<Vec<u8>>,
}

const UNREACHABLE: u8 = u8::MAX;

/// How the first mechanism relates to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They are one mechanism.
    Same,
    /// It causes the second, over this many edges.
    Upstream(u8),
    /// It is caused by the second, over this many edges.
    Downstream(u8),
    /// Neither causes the other, but they share something.
    Sibling(Shared),
    /// No connection.
    Unrelated,
}

/// What siblings share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// A direct cause.
    Cause(MechanismIx),
    /// A direct effect.
    Effect(MechanismIx),
}

/// A shortest way from a cause to an effect, both included.
pub type CausalPath = Vec<MechanismIx>;

impl Graph {
    /// Builds the graph; an error is a cycle, from a mechanism back to itself.
    pub(crate) fn new(
        causes: Vec<Vec<MechanismIx>>,
        feedback: Vec<Vec<MechanismIx>>,
    ) -> Result<Self, Vec<MechanismIx>> {
        let mut effects = vec![Vec::new(); causes.len()];
        for effect in ids(causes.len()) {
            for cause in &causes[effect.index()] {
                effects[cause.index()].push(effect);
            }
        }
        let mut graph = Self { causes, effects, feedback, distance: Vec::new() };
        for node in ids(graph.causes.len()) {
            if let Some(cycle) = graph.cycle_through(node) {
                return Err(cycle);
            }
        }
        graph.distance = ids(graph.causes.len()).map(|node| graph.distances_from(node)).collect();
        Ok(graph)
    }

    fn distances_from(&self, start: MechanismIx) -> Vec<u8> {
        let mut distance = vec![UNREACHABLE; self.effects.len()];
        distance[start.index()] = 0;
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for effect in &self.effects[node.index()] {
                if distance[effect.index()] == UNREACHABLE {
                    distance[effect.index()] = distance[node.index()].saturating_add(1);
                    queue.push_back(*effect);
                }
            }
        }
        distance
    }

    fn cycle_through(&self, start: MechanismIx) -> Option<Vec<MechanismIx>> {
        self.effects[start.index()].iter().find_map(|effect| {
            let mut path = self.search(*effect, start)?;
            path.insert(0, start);
            Some(path)
        })
    }

    /// A shortest causal path by breadth-first search; ties go to the mechanism that comes first by id.
    fn search(&self, from: MechanismIx, to: MechanismIx) -> Option<CausalPath> {
        let mut before: Vec<Option<MechanismIx>> = vec![None; self.effects.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                let mut path = vec![to];
                let mut at = to;
                while at != from {
                    at = before[at.index()].expect("every visited node but the first has one before it");
                    path.push(at);
                }
                path.reverse();
                return Some(path);
            }
            for effect in &self.effects[node.index()] {
                if *effect != from && before[effect.index()].is_none() {
                    before[effect.index()] = Some(node);
                    queue.push_back(*effect);
                }
            }
        }
        None
    }
}

fn ids(count: usize) -> impl Iterator<Item = MechanismIx> {
    (0..count).map(|at| MechanismIx(u16::try_from(at).expect("an atlas has fewer than 65,536 mechanisms")))
}

impl Atlas {
    /// How `first` relates to `second`.
    #[must_use]
    pub fn relation(&self, first: MechanismIx, second: MechanismIx) -> Relation {
        if first == second {
            return Relation::Same;
        }
        if let Some(distance) = self.distance(first, second) {
            return Relation::Upstream(distance);
        }
        if let Some(distance) = self.distance(second, first) {
            return Relation::Downstream(distance);
        }
        let shared = |lists: &[Vec<MechanismIx>]| {
            let others = &lists[second.index()];
            lists[first.index()].iter().copied().find(|ix| others.contains(ix))
        };
        if let Some(cause) = shared(&self.graph.causes) {
            return Relation::Sibling(Shared::Cause(cause));
        }
        shared(&self.graph.effects).map_or(Relation::Unrelated, |effect| Relation::Sibling(Shared::Effect(effect)))
    }

    /// Edges on the shortest causal path; none when `cause` doesn't lead to `effect`.
    #[must_use]
    pub fn distance(&self, cause: MechanismIx, effect: MechanismIx) -> Option<u8> {
        let distance = self.graph.distance[cause.index()][effect.index()];
        (distance != UNREACHABLE).then_some(distance)
    }

    /// A shortest causal path, both ends included.
    #[must_use]
    pub fn causal_path(&self, cause: MechanismIx, effect: MechanismIx) -> Option<CausalPath> {
        self.distance(cause, effect)?;
        self.graph.search(cause, effect)
    }

    /// Direct causes.
    #[must_use]
    pub fn causes(&self, of: MechanismIx) -> &[MechanismIx] {
        &self.graph.causes[of.index()]
    }

    /// Direct effects.
    #[must_use]
    pub fn effects(&self, of: MechanismIx) -> &[MechanismIx] {
        &self.graph.effects[of.index()]
    }

    /// Everything that can cause it, with the distance, nearest first.
    #[must_use]
    pub fn ancestors(&self, of: MechanismIx) -> Vec<(MechanismIx, u8)> {
        self.reachable(|other| self.distance(other, of))
    }

    /// Everything that it can cause, with the distance, nearest first.
    #[must_use]
    pub fn descendants(&self, of: MechanismIx) -> Vec<(MechanismIx, u8)> {
        self.reachable(|other| self.distance(of, other))
    }

    /// Mechanisms with a common direct cause or effect that are neither cause nor effect of it.
    #[must_use]
    pub fn siblings(&self, of: MechanismIx) -> Vec<MechanismIx> {
        let all = self.mechanisms().map(|(ix, _)| ix);
        all.filter(|other| matches!(self.relation(*other, of), Relation::Sibling(_))).collect()
    }

    /// Mechanisms that it makes worse in turn; kept out of all other queries.
    #[must_use]
    pub fn feedback(&self, of: MechanismIx) -> &[MechanismIx] {
        &self.graph.feedback[of.index()]
    }

    fn reachable(&self, distance: impl Fn(MechanismIx) -> Option<u8>) -> Vec<(MechanismIx, u8)> {
        let all = self.mechanisms().filter_map(|(ix, _)| distance(ix).map(|d| (ix, d)));
        let mut found: Vec<_> = all.filter(|(_, d)| *d > 0).collect();
        found.sort_by_key(|(ix, d)| (*d, *ix));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_follow_the_causes() {
        let atlas = Atlas::embedded();
        let relation = |a: &str, b: &str| atlas.relation(atlas.find(a).expect(a), atlas.find(b).expect(b));
        assert_eq!(relation("disk_io_jitter", "disk_io_jitter"), Relation::Same);
        assert_eq!(relation("disk_io_jitter", "append_log_slow"), Relation::Upstream(2));
        assert_eq!(relation("append_log_slow", "disk_io_jitter"), Relation::Downstream(2));
        assert!(matches!(relation("disk_io_jitter", "disk_io_hang"), Relation::Sibling(Shared::Effect(_))));
        assert!(matches!(
            relation("raftstore_cpu_saturation", "read_pool_cpu_saturation"),
            Relation::Sibling(Shared::Cause(_))
        ));
        assert_eq!(relation("clock_jump", "rocksdb_tombstones"), Relation::Unrelated);
    }

    #[test]
    fn a_causal_path_names_every_step() {
        let atlas = Atlas::embedded();
        let find = |id: &str| atlas.find(id).expect(id);
        let path = atlas.causal_path(find("disk_io_jitter"), find("append_log_slow")).expect("connected");
        let ids: Vec<&str> = path.iter().map(|ix| atlas[*ix].id.as_str()).collect();
        assert_eq!(ids, ["disk_io_jitter", "wal_sync_slow", "append_log_slow"]);
        assert_eq!(atlas.causal_path(find("append_log_slow"), find("disk_io_jitter")), None);
    }

    #[test]
    fn feedback_is_no_cause() {
        let atlas = Atlas::embedded();
        let find = |id: &str| atlas.find(id).expect(id);
        let (snapshot, disk) = (find("snapshot_generate_backlog"), find("disk_bandwidth_saturation"));
        assert!(atlas.feedback(snapshot).contains(&disk));
        assert_eq!(atlas.distance(snapshot, disk), None);
    }

    #[test]
    fn a_cycle_is_reported_with_its_way() {
        let ix = MechanismIx;
        let cycle = Graph::new(vec![vec![ix(2)], vec![ix(0)], vec![ix(1)]], vec![Vec::new(); 3]).expect_err("a cycle");
        assert_eq!(cycle, [ix(0), ix(1), ix(2), ix(0)]);
    }
}
