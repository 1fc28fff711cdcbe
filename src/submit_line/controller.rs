//! What slurmctld refuses by itself whatever the policy says, as far as the request alone shows it
//! (`validate_job_create_req`, `_test_job_desc_fields`, `_valid_array_inx`, job_mgr.c;
//! `update_job_dependency`, job_scheduler.c). What its configuration decides is not here: nodes,
//! partitions, features, licences, MaxArraySize.

use super::{Component, Problem, ProblemKind};
use crate::request::description::{LONGEST_ARRAY, LONGEST_DEPENDENCY, LONGEST_NAME, LONGEST_PATH};
use crate::request::{Request, dependency, partition_list};

/// All that slurmctld says to the components of a job by `user_id`.
pub fn problems(components: &[Component], user_id: u32) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    for problem in components.iter().flat_map(|component| of_one(component, user_id)) {
        // What components share is said once.
        if !found.iter().any(|known| (known.option, &known.message) == (problem.option, &problem.message)) {
            found.push(problem);
        }
    }
    found
}

fn of_one(component: &Component, user_id: u32) -> Vec<Problem> {
    let request = &component.request;
    let mut found = Vec::new();
    let mut refuse = |option: &'static str, message: String| {
        let place = component.place(option);
        found.push(Problem { kind: ProblemKind::Controller, option: Some(option), place, message });
    };
    if request.nice.is_some_and(|nice| nice < 0) && user_id != 0 {
        refuse("nice", "Invalid --nice value".to_owned());
    }
    for (option, text, longest) in texts(request) {
        let length = text.map_or(0, str::len);
        if length > longest {
            let words = format!(
                "Pathname of a file, directory or other parameter too long (--{option} has {length} bytes, \
                 {longest} are allowed)"
            );
            refuse(option, words);
        }
    }
    if let Some(array) = &request.array {
        let nothing = array.as_str().split(',').all(str::is_empty);
        // Arrays and components do not go together.
        if request.het_offset.is_some() || (array.tasks.is_none() && !nothing) {
            refuse("array", "Invalid job array specification".to_owned());
        }
    }
    let named = partition_list::names(request.partition.as_deref().unwrap_or("")).next().is_some();
    if component.place("partition").is_some() && !named {
        refuse("partition", "Invalid partition name specified".to_owned());
    }
    if !dependency::is_well_formed(request.dependency.as_deref().unwrap_or("")) {
        refuse("dependency", "Job dependency problem".to_owned());
    }
    found
}

/// Of [`Description::too_long`] what an option states; a script's text is refused before it is read.
///
/// [`Description::too_long`]: crate::request::description::Description::too_long
fn texts<'r>(request: &'r Request<'_>) -> [(&'static str, Option<&'r str>, usize); 17] {
    [
        ("account", request.account.as_deref(), LONGEST_NAME),
        ("array", request.array.as_ref().map(|a| a.as_str()), LONGEST_ARRAY),
        ("comment", request.comment.as_deref(), LONGEST_NAME),
        ("dependency", request.dependency.as_deref(), LONGEST_DEPENDENCY),
        ("constraint", request.features.as_deref(), LONGEST_NAME),
        ("licenses", request.licenses.as_deref(), LONGEST_NAME),
        ("mail-user", request.mail_user.as_deref(), LONGEST_NAME),
        ("job-name", request.name.as_deref(), LONGEST_NAME),
        ("partition", request.partition.as_deref(), LONGEST_NAME),
        ("prefer", request.prefer.as_deref(), LONGEST_NAME),
        ("qos", request.qos.as_deref(), LONGEST_NAME),
        ("reservation", request.reservation.as_deref(), LONGEST_NAME),
        ("wckey", request.wckey.as_deref(), LONGEST_NAME),
        ("error", request.std_err.as_deref(), LONGEST_PATH),
        ("input", request.std_in.as_deref(), LONGEST_PATH),
        ("output", request.std_out.as_deref(), LONGEST_PATH),
        ("chdir", request.work_dir.as_deref(), LONGEST_PATH),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{Command, CommandLine, Series, World};

    fn told(line: &str) -> Vec<String> {
        let argv: Vec<String> = shlex::split(&format!("sbatch {line} --wrap=true")).unwrap();
        let world = World { environment: &|_| None, directory: "/home/user", user_id: 1, group_id: 1 };
        let line = CommandLine::new(Command::Sbatch, Series::LATEST, &argv, &[]);
        line.read(&world, None).problems.into_iter().map(|p| p.message).collect()
    }

    #[test]
    fn slurmctld_itself_refuses() {
        for (line, words) in [
            ("--nice=-1", "Invalid --nice value"),
            ("--array=9-0", "Invalid job array specification"),
            ("-n1 -a 0-3 : -n1", "Invalid job array specification"),
            ("-p ''", "Invalid partition name specified"),
            ("-d afterok:x", "Job dependency problem"),
        ] {
            assert_eq!(told(line), [words], "{line}");
        }
        let long = format!("--comment={}", "x".repeat(1025));
        assert!(told(&long).concat().contains("(--comment has 1025 bytes, 1024 are allowed)"));
        for line in [
            "--nice=3",
            "-a 0-3,",
            "-p a,",
            "-d singleton",
            "-d ''",
            &format!("--comment={}", "x".repeat(1024)),
        ] {
            assert_eq!(told(line), [""; 0], "{line}");
        }
    }
}
