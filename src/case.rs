//! One request under judgement: each partition it may run in, with the facts that hold there and
//! the account and QoS that Slurm would really use.

use std::cell::OnceCell;

use smallvec::SmallVec;

use crate::cluster::Cluster;
use crate::date::Date;
use crate::policy::Policy;
use crate::policy::facts::Partition;
use crate::request::partition_list;
use crate::request::{Request, Shape};
use crate::verdict::Complaint;

/// A request with everything needed to judge it.
pub struct Case<'a> {
    /// The policy in force.
    pub policy: &'a Policy,
    /// What was asked.
    pub request: &'a Request<'a>,
    /// Who knows the rest.
    pub cluster: &'a dyn Cluster,
    /// The server's day.
    pub today: Date,
    /// Every partition that the request may run in, in its own order. Never empty: where the
    /// partition is unknown there is one candidate without a name.
    pub candidates: SmallVec<[Candidate<'a>; 2]>,
    /// What the rule `dependency` has to say, which takes as long as the text is.
    pub dependency: OnceCell<Option<Complaint>>,
    account: OnceCell<Option<Effective>>,
}

/// A value that Slurm will really use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The name, or for QoS a comma list.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
}

/// Where an effective value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user typed it.
    Asked,
    /// The reservation's.
    Reservation,
    /// The cluster's default.
    ClusterDefault,
    /// The user's default.
    UserDefault,
}

impl Effective {
    /// The names of a comma list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        partition_list::names(&self.name)
    }

    /// `the default QoS high`, `--qos=high`: the value with where it came from, for a message.
    pub fn described(&self, option: &str, noun: &str) -> String {
        match self.source {
            Source::Asked => format!("--{option}={}", self.name),
            Source::Reservation => format!("the reservation's {noun} {}", self.name),
            Source::ClusterDefault | Source::UserDefault => format!("the default {noun} {}", self.name),
        }
    }
}

/// One partition that the request may run in.
pub struct Candidate<'a> {
    name: Option<std::borrow::Cow<'a, str>>,
    /// Where the name comes from.
    pub source: Source,
    /// What the policy says of the partition.
    pub facts: Partition<'a>,
    /// What the request adds up to on its nodes.
    pub shape: Shape,
    qos: OnceCell<Option<Effective>>,
}

impl<'a> Case<'a> {
    /// Works out the candidates; everything else is looked up when a rule asks for it.
    pub fn new(policy: &'a Policy, request: &'a Request<'a>, cluster: &'a dyn Cluster, today: Date) -> Self {
        let candidate = |name: Option<std::borrow::Cow<'a, str>>, source| {
            let facts = name.as_deref().map(|n| policy.facts.partition(n)).unwrap_or_default();
            let shape = Shape::of(request, facts.node());
            Candidate { name, source, facts, shape, qos: OnceCell::new() }
        };
        let asked = request.partition.as_deref().unwrap_or("");
        let mut candidates: SmallVec<[Candidate<'a>; 2]> = SmallVec::new();
        for name in partition_list::names(asked) {
            candidates.push(candidate(Some(name.into()), Source::Asked));
        }
        if candidates.is_empty() {
            let reservation =
                request.reservation.as_deref().and_then(|list| partition_list::names(list).next());
            candidates.push(match reservation {
                // A reservation's partition goes before the cluster's default. Where it is not
                // known, neither is the partition: the reservation may have none of its own.
                Some(r) => candidate(cluster.reservation_partition(r).map(Into::into), Source::Reservation),
                None => candidate(cluster.default_partition(), Source::ClusterDefault),
            });
        }
        Case {
            policy,
            request,
            cluster,
            today,
            candidates,
            dependency: OnceCell::new(),
            account: OnceCell::new(),
        }
    }

    /// What was looked for and could not be known.
    pub fn unknown(&self) -> Vec<&'static str> {
        let account = matches!(self.account.get(), Some(None));
        let qos = self.candidates.iter().any(|c| matches!(c.qos.get(), Some(None)));
        let partition = self.candidates.iter().any(|c| c.name.is_none());
        let names = [(partition, "partition"), (account, "account"), (qos, "qos")];
        names.into_iter().filter(|(unknown, _)| *unknown).map(|(_, name)| name).collect()
    }

    /// The account that Slurm will charge.
    pub fn account(&self) -> Option<&Effective> {
        let look_up = || match self.request.account.as_deref().filter(|a| !a.is_empty()) {
            Some(name) => Some(Effective { name: name.to_owned(), source: Source::Asked }),
            None => self
                .cluster
                .default_account(self.request.user_id)
                .map(|name| Effective { name, source: Source::UserDefault }),
        };
        self.account.get_or_init(look_up).as_ref()
    }
}

impl<'a> Candidate<'a> {
    /// The partition's name; `None` where it is unknown.
    pub fn partition(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The QoS that Slurm will use here.
    pub fn qos(&self, case: &Case<'_>) -> Option<&Effective> {
        let look_up = || match case.request.qos.as_deref().filter(|q| !q.is_empty()) {
            Some(name) => Some(Effective { name: name.to_owned(), source: Source::Asked }),
            None => {
                let account = case.account().map(|a| a.name.as_str());
                let name = case.cluster.default_qos(case.request.user_id, account, self.partition())?;
                Some(Effective { name, source: Source::UserDefault })
            }
        };
        self.qos.get_or_init(look_up).as_ref()
    }

    /// Whether the number of GPUs lies in `min..=max`, judged only where the request fixes it.
    pub fn gpus_within(&self, min: u64, max: Option<u64>) -> bool {
        let (low, high) = match self.shape.gpus {
            None => (0, Some(0)),
            Some(gpus) => (gpus.low, gpus.high),
        };
        low >= min && max.is_none_or(|max| high.is_some_and(|high| high <= max))
    }

    /// The GPU types that the request names, or the only type of the partition where it asks for
    /// GPUs and names none.
    pub fn gpu_types<'s>(&'s self, case: &'s Case<'_>) -> impl Iterator<Item = &'s str> {
        let request = case.request;
        let named = || {
            [&request.tres_per_job, &request.tres_per_node, &request.tres_per_socket, &request.tres_per_task]
                .into_iter()
                .flat_map(|t| t.gpus())
                .filter(|item| item.count != Some(0))
                .filter_map(|item| item.kind)
        };
        let asks = self.shape.gpus.is_some_and(|g| g.high != Some(0));
        let only = match self.facts.gpu_types() {
            Some([only]) if asks && named().next().is_none() => Some(only.as_str()),
            _ => None,
        };
        named().chain(only)
    }
}
