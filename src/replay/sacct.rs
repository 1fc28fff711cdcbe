//! `sacct --parsable2` output: the header line names the columns, in any order; each line after it is
//! a job, a task of an array, a component, or a step.
//!
//! sacct escapes nothing: the delimiter and line breaks stand in job names, comments and command lines
//! as they are. A `--delimiter` that nobody types is the remedy, and what can be put right without one
//! is put right here: never by guessing between two readings.

use super::time;

/// A column that is read (`sacct --helpformat`; 22.05, 24.11, 26.05).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    JobId,
    JobIdRaw,
    Cluster,
    User,
    Uid,
    Gid,
    Account,
    Partition,
    Qos,
    /// 24.11 and later: the QoS asked for.
    QosReq,
    Submit,
    State,
    Elapsed,
    ElapsedRaw,
    Timelimit,
    TimelimitRaw,
    ReqCpus,
    ReqMem,
    ReqNodes,
    NNodes,
    AllocCpus,
    ReqTres,
    AllocTres,
    Reservation,
    Constraints,
    JobName,
    Comment,
    AdminComment,
    WorkDir,
    SubmitLine,
    /// 24.11 and later: as asked for, patterns and all.
    StdOut,
    /// 24.11 and later.
    StdErr,
}

use Column as C;

const COLUMNS: [(&str, Column); 34] = [
    ("JobID", C::JobId),
    ("JobIDRaw", C::JobIdRaw),
    ("Cluster", C::Cluster),
    ("User", C::User),
    ("UID", C::Uid),
    ("GID", C::Gid),
    ("Account", C::Account),
    ("Partition", C::Partition),
    ("QOS", C::Qos),
    ("QOSREQ", C::QosReq),
    ("Submit", C::Submit),
    ("State", C::State),
    ("Elapsed", C::Elapsed),
    ("ElapsedRaw", C::ElapsedRaw),
    ("Timelimit", C::Timelimit),
    ("TimelimitRaw", C::TimelimitRaw),
    ("ReqCPUS", C::ReqCpus),
    ("ReqMem", C::ReqMem),
    ("ReqNodes", C::ReqNodes),
    ("NNodes", C::NNodes),
    ("AllocNodes", C::NNodes),
    ("AllocCPUS", C::AllocCpus),
    ("NCPUS", C::AllocCpus),
    ("ReqTRES", C::ReqTres),
    ("AllocTRES", C::AllocTres),
    ("Reservation", C::Reservation),
    ("Constraints", C::Constraints),
    ("JobName", C::JobName),
    ("Comment", C::Comment),
    ("AdminComment", C::AdminComment),
    ("WorkDir", C::WorkDir),
    ("SubmitLine", C::SubmitLine),
    ("StdOut", C::StdOut),
    ("StdErr", C::StdErr),
];

/// Columns that hold what users type, where a delimiter may stand.
const FREE: [&str; 14] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "WorkDir",
    "SubmitLine",
    "StdOut",
    "StdErr",
    "StdIn",
    "Constraints",
    "Extra",
    "Container",
    "WCKey",
    "Licenses",
];

/// The fields to ask sacct for, in an order that leaves few ways to read a line wrongly.
pub const FORMAT: &str = "JobID,JobIDRaw,User,UID,GID,Account,Partition,QOS,Submit,State,ElapsedRaw,\
TimelimitRaw,ReqCPUS,ReqNodes,ReqMem,ReqTRES,AllocTRES,Reservation,Constraints,JobName,Comment,\
AdminComment,WorkDir,SubmitLine";

/// The header line of a file.
#[derive(Clone, Debug)]
pub struct Header {
    delimiter: String,
    /// How many columns there are.
    width: usize,
    /// Where each of [`COLUMNS`] stands.
    places: Vec<(Column, usize)>,
    /// The columns of [`FREE`].
    free: Vec<usize>,
    line: String,
}

/// A line as columns.
#[derive(Debug)]
pub struct Row<'t> {
    header: &'t Header,
    fields: Vec<&'t str>,
    /// A delimiter stood in one of them.
    joined: bool,
}

/// Whose line it is.
#[derive(Clone, Copy, Debug)]
pub struct LineKey<'t> {
    /// The job.
    pub id: JobId<'t>,
    /// Whether the job's own number is told.
    pub has_raw: bool,
    /// Its cluster; empty where that is not told.
    pub cluster: &'t str,
}

/// What a line is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Fewer columns than the header: cut off, or with a line break in one of them.
    Short(usize),
    /// As many.
    Right,
    /// More: a delimiter stands in one of them.
    Long,
}

impl Header {
    /// Reads a header line; `None` where it is none.
    pub fn parse(line: &str) -> Option<Header> {
        let line = line.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}');
        let is_letter = |c: char| c.is_ascii_alphabetic();
        let end = line.find(|c| !is_letter(c))?;
        let delimiter = line.get(end..)?.split(is_letter).next()?;
        // Without --parsable2 columns are padded with blanks, and cut.
        if delimiter.trim().is_empty() && delimiter != "\t" && delimiter != "\u{1f}" {
            return None;
        }
        // --parsable ends each line with a delimiter, --parsable2 does not.
        let names: Vec<&str> = line.split(delimiter).collect();
        let places: Vec<_> =
            names.iter().enumerate().filter_map(|(at, name)| Some((known(name)?, at))).collect();
        if !places.iter().any(|(c, _)| matches!(c, C::JobId | C::JobIdRaw)) {
            return None;
        }
        let is_free = |name: &str| FREE.iter().any(|f| f.eq_ignore_ascii_case(name));
        let free = names.iter().enumerate().filter(|(_, name)| is_free(name)).map(|(at, _)| at).collect();
        let width = names.len();
        Some(Header { delimiter: delimiter.to_owned(), width, places, free, line: line.to_owned() })
    }

    /// Whether a column is there.
    pub fn has(&self, column: Column) -> bool {
        self.places.iter().any(|(c, _)| *c == column)
    }

    /// Whether the last column holds what users type, so that it may go on behind a line break.
    pub fn ends_in_text(&self) -> bool {
        self.free.last().is_some_and(|at| at.checked_add(1) == Some(self.width))
    }

    /// Whether a line is the header once more, as where files were put together.
    pub fn is_repeated(&self, line: &str) -> bool {
        line == self.line
    }

    /// Whether a line has the columns of the header.
    pub fn width_of(&self, line: &str) -> Width {
        let count = match self.delimiter.as_bytes() {
            [byte] => line.bytes().filter(|b| b == byte).count(),
            _ => line.matches(&self.delimiter).count(),
        };
        match count.saturating_add(1) {
            n if n < self.width => Width::Short(n),
            n if n == self.width => Width::Right,
            _ => Width::Long,
        }
    }

    /// What a file without some column cannot tell, in words.
    pub fn missing(&self) -> Vec<&'static str> {
        let wanted: [(&[Column], &'static str); 11] = [
            (&[C::SubmitLine], "without SubmitLine nobody knows what was typed"),
            (&[C::ReqTres], "without ReqTRES what a script asked for is known only by what the job got"),
            (&[C::AllocTres], "without AllocTRES GPU-hours are unknown"),
            (&[C::ElapsedRaw, C::Elapsed], "without ElapsedRaw hours are unknown"),
            (&[C::Submit], "without Submit exemptions and enforce_from count as on the last of days"),
            (&[C::TimelimitRaw, C::Timelimit], "without TimelimitRaw time limits of scripts are unknown"),
            (&[C::Partition], "without Partition a default partition is unknown"),
            (&[C::Account], "without Account a default account is unknown"),
            (&[C::Qos], "without QOS a default QoS is unknown"),
            (&[C::User], "without User nobody is told from anybody"),
            (&[C::JobIdRaw], "without JobIDRaw a task of an array that is listed twice counts twice"),
        ];
        wanted.iter().filter(|(any, _)| !any.iter().any(|c| self.has(*c))).map(|(_, words)| *words).collect()
    }

    /// Whose line it is, without reading more of it than that takes.
    ///
    /// # Errors
    /// Why the line cannot be read, in words.
    pub fn key<'t>(&'t self, line: &'t str) -> Result<LineKey<'t>, String> {
        let id = |id: &'t str, raw: &'t str, cluster: &'t str| {
            let (id, raw) = (id.trim(), raw.trim());
            let text = if id.is_empty() { raw } else { id };
            let parsed = JobId::parse(text, Some(raw).filter(|t| !t.is_empty()));
            let id = parsed.ok_or_else(|| format!("{} is no job id", crate::words::shown(text)))?;
            Ok(LineKey { id, has_raw: !raw.is_empty(), cluster: cluster.trim() })
        };
        if self.width_of(line) != Width::Right {
            let row = self.row(line)?;
            let place = |column| self.place(column).and_then(|at| row.fields.get(at).copied()).unwrap_or("");
            return id(place(C::JobId), place(C::JobIdRaw), place(C::Cluster));
        }
        let field =
            |column| self.place(column).and_then(|at| line.split(&self.delimiter).nth(at)).unwrap_or("");
        id(field(C::JobId), field(C::JobIdRaw), field(C::Cluster))
    }

    fn place(&self, column: Column) -> Option<usize> {
        self.places.iter().find(|(c, _)| *c == column).map(|(_, at)| *at)
    }

    /// The columns of a line.
    ///
    /// # Errors
    /// Why the line cannot be read, in words.
    pub fn row<'t>(&'t self, line: &'t str) -> Result<Row<'t>, String> {
        let mut fields: Vec<&str> = Vec::with_capacity(self.width);
        match self.delimiter.as_bytes() {
            // The common case, a good deal faster than a search for text.
            [byte] => fields.extend(line.split(char::from(*byte))),
            _ => fields.extend(line.split(&self.delimiter)),
        }
        let surplus = match fields.len().checked_sub(self.width) {
            None => {
                return Err(format!("{} columns instead of {}", fields.len(), self.width));
            }
            Some(0) => {
                let row = Row { header: self, fields, joined: false };
                return row.check().map(|()| row);
            }
            Some(surplus) => surplus,
        };
        // The delimiter stands in one of the columns that users write: in which, is told only where all
        // other columns are what they should be for just one of them.
        let mut right = self.free.iter().filter_map(|&at| {
            let row = Row { header: self, fields: joined(line, &fields, at, surplus)?, joined: true };
            row.check().is_ok().then_some(row)
        });
        match (right.next(), right.next()) {
            (Some(row), None) => Ok(row),
            _ => Err(format!(
                "{} columns instead of {}, for a {} stands in one of them",
                fields.len(),
                self.width,
                crate::words::shown(&self.delimiter)
            )),
        }
    }
}

/// `fields` with column `at` joined to the `surplus` that follow it.
fn joined<'t>(line: &'t str, fields: &[&'t str], at: usize, surplus: usize) -> Option<Vec<&'t str>> {
    let last = at.checked_add(surplus)?;
    let offset = |field: &str| (field.as_ptr() as usize).checked_sub(line.as_ptr() as usize);
    let (first, end) = (fields.get(at)?, fields.get(last)?);
    let whole = line.get(offset(first)?..offset(end)?.checked_add(end.len())?)?;
    let mut all = fields.get(..at)?.to_vec();
    all.push(whole);
    all.extend_from_slice(fields.get(last.checked_add(1)?..)?);
    Some(all)
}

impl Row<'_> {
    /// What stands in a column, without blanks around it; empty where the column is not there.
    pub fn get(&self, column: Column) -> &str {
        let place = self.header.places.iter().find(|(c, _)| *c == column);
        place.and_then(|(_, at)| self.fields.get(*at)).map_or("", |text| text.trim())
    }

    /// The same; `None` where nothing stands there.
    pub fn text(&self, column: Column) -> Option<&str> {
        Some(self.get(column)).filter(|text| !text.is_empty())
    }

    /// Whether the header has the column.
    pub fn has(&self, column: Column) -> bool {
        self.header.has(column)
    }

    /// The job.
    ///
    /// # Errors
    /// No number.
    pub fn id(&self) -> Result<JobId<'_>, String> {
        let text = self.text(C::JobId).or(self.text(C::JobIdRaw)).unwrap_or("");
        JobId::parse(text, self.text(C::JobIdRaw))
            .ok_or_else(|| format!("{} is no job id", crate::words::shown(text)))
    }

    /// Whether columns that have a form have it. A line that was read with its columns shifted fails.
    fn check(&self) -> Result<(), String> {
        for (column, at) in &self.header.places {
            let text = self.fields.get(*at).map_or("", |text| text.trim());
            // A command line may come from a program that is none of Slurm's: that is no shift by itself.
            let lenient = matches!(column, C::SubmitLine | C::WorkDir) && !self.joined;
            if !text.is_empty() && !lenient && !has_form(*column, text) {
                let name = COLUMNS.iter().find(|(_, c)| c == column).map_or("", |(name, _)| name);
                return Err(format!("{name} is {}", crate::words::shown(text)));
            }
        }
        Ok(())
    }
}

/// Whether a text may stand in a column.
fn has_form(column: Column, text: &str) -> bool {
    let number = || text.bytes().all(|b| b.is_ascii_digit());
    match column {
        C::JobId | C::JobIdRaw => text.starts_with(|c: char| c.is_ascii_digit()),
        C::Uid | C::Gid | C::ElapsedRaw | C::ReqCpus | C::AllocCpus => number(),
        C::ReqNodes | C::NNodes => whole(text).is_some(),
        C::Submit => time::day(text).is_some() || matches!(text, "Unknown" | "None"),
        C::State => {
            text.starts_with("CANCELLED by ")
                || text.bytes().all(|b| b.is_ascii_uppercase() || b"_ +".contains(&b))
        }
        C::Elapsed => time::seconds(text).is_some() || text == "INVALID",
        C::Timelimit | C::TimelimitRaw => {
            number() || time::seconds(text).is_some() || matches!(text, "UNLIMITED" | "Partition_Limit")
        }
        C::ReqTres | C::AllocTres => text.contains('=') && !text.starts_with(['/', '-']),
        C::WorkDir => text.starts_with('/'),
        C::SubmitLine => {
            text.split(' ').next().is_some_and(|w| crate::submit_line::Command::named(w).is_some())
        }
        _ => true,
    }
}

/// The number of a job as sacct prints it: `7`, `7_3`, `7_[4-9%2]`, `7+1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobId<'t> {
    /// What the user was told: of an array or a heterogeneous job its first.
    pub base: u32,
    /// The job's own number, where it is told; of tasks that have not started the array's.
    pub raw: u32,
    /// What kind.
    pub kind: Kind<'t>,
}

/// What a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'t> {
    /// A job.
    Job,
    /// A task of an array, or its tasks that have not started.
    Task(&'t str),
    /// A component of a heterogeneous job, from 0.
    Component(u32),
    /// A step.
    Step,
}

impl<'t> JobId<'t> {
    /// Reads `JobID`, and `JobIDRaw` where it is told.
    pub fn parse(id: &'t str, raw: Option<&str>) -> Option<JobId<'t>> {
        let end = id.find(|c: char| !c.is_ascii_digit()).unwrap_or(id.len());
        let (number, rest) = id.split_at(end);
        let base: u32 = number.parse().ok()?;
        let digits = |t: &str| t.split('.').next().and_then(|t| t.parse().ok());
        let raw = raw.and_then(digits);
        let outside = rest.split(']').next_back().unwrap_or(rest);
        let kind = match rest.chars().next() {
            _ if outside.contains('.') => Kind::Step,
            None => Kind::Job,
            Some('_') => Kind::Task(rest.get(1..)?.trim_start_matches('[').trim_end_matches(']')),
            Some('+') => Kind::Component(rest.get(1..)?.parse().ok()?),
            Some(_) => return None,
        };
        Some(JobId { base, raw: raw.unwrap_or(base), kind })
    }
}

/// A number of nodes: sacct writes 2048 of them as `2K` (`convert_num_unit`).
pub fn whole(text: &str) -> Option<u32> {
    let (number, factor) = match text.strip_suffix('K') {
        Some(number) => (number, 1024u32),
        None => (text, 1),
    };
    number.parse::<u32>().ok()?.checked_mul(factor)
}

fn known(name: &str) -> Option<Column> {
    COLUMNS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, column)| *column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_columns_and_delimiter() {
        let header = Header::parse("JobID|User|SubmitLine").unwrap();
        assert_eq!((header.delimiter.as_str(), header.width), ("|", 3));
        assert_eq!(Header::parse("User\u{1f}jobidraw\u{1f}Nonsense\n").unwrap().delimiter, "\u{1f}");
        assert_eq!(Header::parse("JobID|User|").unwrap().width, 3, "--parsable");
        assert_eq!(Header::parse("JobID@@User").unwrap().delimiter, "@@");
        for none in ["", "123|ann|x", "JobID", "User|Account", "JobID           User", "{\"sluice\":1}"] {
            assert!(Header::parse(none).is_none(), "{none}");
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        let header = Header::parse("User|JobID|Extra").unwrap();
        let row = header.row("ann|7_3|x").unwrap();
        assert_eq!((row.get(Column::User), row.get(Column::Qos)), ("ann", ""));
        let id = row.id().unwrap();
        assert_eq!((id.base, id.kind), (7, Kind::Task("3")));
    }

    #[test]
    fn job_ids_of_every_kind() {
        let of = |text| JobId::parse(text, None).map(|id| (id.base, id.kind));
        assert_eq!(of("7"), Some((7, Kind::Job)));
        assert_eq!(of("7_[4-9%2]"), Some((7, Kind::Task("4-9%2"))));
        assert_eq!(of("7_[1-3,...]"), Some((7, Kind::Task("1-3,..."))));
        assert_eq!(of("7+1"), Some((7, Kind::Component(1))));
        assert_eq!(
            (of("7.batch"), of("7_3.0"), of("7+1.extern")),
            (Some((7, Kind::Step)), Some((7, Kind::Step)), Some((7, Kind::Step)))
        );
        assert_eq!((of("x"), of(""), of("99999999999"), of("7~1")), (None, None, None, None));
        assert_eq!(JobId::parse("7_3", Some("12")).unwrap().raw, 12);
        assert_eq!((whole("2K"), whole("3"), whole("many")), (Some(2048), Some(3), None));
    }

    #[test]
    fn a_delimiter_in_a_name_is_told_from_one_between_columns_or_the_line_is_broken() {
        let header = Header::parse("JobID|JobName|Submit|State|SubmitLine").unwrap();
        let row = header.row("7|a|b|2026-11-30T00:00:00|FAILED|sbatch x").unwrap();
        assert_eq!((row.get(Column::JobName), row.get(Column::State)), ("a|b", "FAILED"));
        let row = header.row("7|a|2026-11-30T00:00:00|FAILED|sbatch --wrap=a | b|c").unwrap();
        assert_eq!((row.get(Column::JobName), row.get(Column::SubmitLine)), ("a", "sbatch --wrap=a | b|c"));
        // Two columns side by side: nobody can tell.
        let header = Header::parse("JobID|JobName|Comment").unwrap();
        assert!(header.row("7|a|b|c").unwrap_err().contains("4 columns instead of 3"));
        assert!(header.row("7|a").unwrap_err().contains("2 columns"));
    }

    #[test]
    fn a_line_whose_columns_are_not_what_they_should_be_is_broken() {
        let header = Header::parse("JobID|Submit|ReqTRES").unwrap();
        assert!(header.row("7|yesterday|cpu=1").unwrap_err().contains("Submit is yesterday"));
        assert!(header.row("7|2026-11-30T00:00:00|").is_ok());
    }
}
