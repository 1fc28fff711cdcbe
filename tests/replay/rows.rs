//! Accounting as a busy centre has it, made up: users with habits, arrays, heterogeneous jobs,
//! interactive ones, scripts that say what the command line does not, comments, broken lines.
//! The same seed makes the same rows.

use std::io::{self, Write};

/// The header that goes before the rows; the delimiter is a tab for no reason but that nobody types it.
pub const HEADER: &str = "JobID|JobIDRaw|User|UID|GID|Account|Partition|QOS|Submit|State|ElapsedRaw|TimelimitRaw|ReqCPUS|\
ReqNodes|ReqMem|ReqTRES|AllocTRES|Reservation|Constraints|JobName|Comment|AdminComment|WorkDir|SubmitLine";

/// Numbers that look random (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let index = self.below(list.len() as u64) as usize;
        list.get(index).copied().unwrap_or("")
    }
}

/// A job that a user submits again and again.
struct Habit {
    line: String,
    name: String,
    partition: &'static str,
    qos: &'static str,
    cpus: u64,
    nodes: u64,
    gpus: u64,
    gb: u64,
    minutes: u64,
    comment: &'static str,
    array: bool,
}

fn habit(random: &mut Random, number: u64) -> Habit {
    let gpu = random.below(100) < 45;
    let partition = if gpu {
        random.of(&["gpu", "gpu", "gpu", "phys-a100"])
    } else {
        random.of(&["cpu", "cpu", "standard"])
    };
    let gpus = if gpu { [1, 1, 1, 2, 4, 4, 8][random.below(7) as usize] } else { 0 };
    let cpus = [1, 2, 4, 8, 16, 32, 64][random.below(7) as usize];
    let nodes = if gpus > 4 { 2 } else { 1 };
    let gb = [2, 4, 16, 60, 120, 240][random.below(6) as usize];
    let minutes = [5, 30, 60, 240, 1440, 2880, 7200][random.below(7) as usize];
    let array = random.below(100) < 12;
    let comment =
        if random.below(100) < 3 { "justify: the solver wants all of the memory bandwidth" } else { "" };
    // What stands on the command line; the rest is in the script.
    let mut line = match random.below(10) {
        0 => "srun".to_owned(),
        1 => "salloc".to_owned(),
        _ => "sbatch".to_owned(),
    };
    let batch = line == "sbatch";
    let mut say = |chance: u64, text: String| {
        if !batch || random.below(100) < chance {
            line.push(' ');
            line.push_str(&text);
        }
    };
    say(60, format!("--partition={partition}"));
    say(40, format!("-c {cpus}"));
    say(40, format!("--time={minutes}"));
    say(30, format!("--mem={gb}G"));
    if gpus > 0 {
        say(50, format!("--gpus-per-node={}", gpus / nodes));
        say(30, format!("-N {nodes}"));
    }
    if array && batch {
        say(70, format!("--array=0-{}", 9 + random_tail(number)));
        say(50, format!("-o logs/run-{}.out", if number % 3 == 0 { "%A_%a" } else { "%j" }));
    }
    say(4, "--exclusive".to_owned());
    if !comment.is_empty() {
        say(100, format!("--comment={comment}"));
    }
    let name = format!("run{number}");
    match line.split(' ').next() {
        Some("srun") => line.push_str(" --pty bash"),
        Some("sbatch") if number % 11 == 0 => line.push_str(&format!(" --wrap=python train.py -n {number}")),
        Some("sbatch") => line.push_str(&format!(" jobs/train-{number}.sh --seed 7")),
        _ => {}
    }
    let qos = if partition == "phys-a100" {
        random.of(&["scavenger", "normal"])
    } else {
        random.of(&["normal", "normal", "debug"])
    };
    Habit { line, name, partition, qos, cpus, nodes, gpus, gb, minutes, comment, array: array && batch }
}

fn random_tail(number: u64) -> u64 {
    let number = number.wrapping_mul(2_654_435_761) >> 7;
    if number % 20 == 0 { number % 490 } else { number % 30 }
}

/// Writes the header and so many rows.
pub fn write(out: &mut impl Write, rows: u64, seed: u64) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    let mut random = Random(seed | 1);
    let users = 700;
    let habits: Vec<Vec<Habit>> =
        (0..users).map(|user| (0..12).map(|n| habit(&mut random, user * 12 + n)).collect()).collect();
    let (mut id, mut row) = (1000u64, 0u64);
    while row < rows {
        let user = random.below(users).min(random.below(users));
        let of_user = &habits[user as usize];
        let habit = &of_user[random.below(of_user.len() as u64) as usize];
        let tasks = if habit.array { 10 + random_tail(id) } else { 1 };
        let component = random.below(200) == 0 && !habit.array;
        let first = id;
        for task in 0..tasks.min(rows - row) {
            id += 1;
            let label = if habit.array {
                format!("{first}_{task}")
            } else if component {
                format!("{id}+0")
            } else {
                id.to_string()
            };
            line(out, &mut random, habit, user, &label, id, row * 15_552_000 / rows)?;
            row += 1;
        }
        if component && row < rows {
            line(out, &mut random, habit, user, &format!("{id}+1"), id + 1, row * 15_552_000 / rows)?;
            id += 1;
            row += 1;
        }
    }
    Ok(())
}

fn line(
    out: &mut impl Write,
    random: &mut Random,
    habit: &Habit,
    user: u64,
    label: &str,
    id: u64,
    seconds: u64,
) -> io::Result<()> {
    let Habit { line, name, partition, qos, cpus, nodes, gpus, gb, minutes, comment, .. } = habit;
    let elapsed = random.below(minutes * 60 + 1);
    let all = cpus * nodes;
    let gres = if *gpus > 0 { format!(",gres/gpu:a100={gpus},gres/gpu={gpus}") } else { String::new() };
    let alloc = format!("billing={all},cpu={all}{gres},mem={gb}G,node={nodes}");
    let req = format!(
        "billing={all},cpu={all}{},mem={gb}G,node={nodes}",
        gres.replace(":a100", "").split(",gres/gpu=").take(2).collect::<Vec<_>>().join(",gres/gpu=")
    );
    let day = seconds / 86_400;
    let (month, day) = (1 + day / 30, 1 + day % 28);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    // Sweeps: the same script with an argument of its own each time.
    let argument = if habit.array || random.below(100) < 60 { String::new() } else { format!(" --run {id}") };
    let state = random.of(&["COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 1001"]);
    writeln!(
        out,
        "{label}|{id}|u{user:04}|{}|{}|acct{}|{partition}|{qos}|2026-{month:02}-{day:02}T{clock}|{state}|{elapsed}|\
         {minutes}|{all}|{nodes}|{gb}G|{req}|{alloc}|||{name}|{comment}||/home/u{user:04}/project-{}|{line}{argument}",
        20_000 + user,
        30_000 + user % 40,
        user % 40,
        id % 17,
    )
}
