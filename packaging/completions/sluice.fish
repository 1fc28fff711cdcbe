# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_sluice_global_optspecs
    string join \n policy= format= h/help V/version
end

function __fish_sluice_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_sluice_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_sluice_using_subcommand
    set -l cmd (__fish_sluice_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c sluice -n "__fish_sluice_needs_command" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_needs_command" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_needs_command" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_needs_command" -s V -l version -d 'Print version'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "check" -d 'Judge a script or a command line as slurmctld would'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "test" -d 'Run tests of a policy that are kept as data'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "validate" -d 'List every error and doubt of a policy'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "show" -d 'Show a policy as it applies: facts, rules, limits'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "init" -d 'Write a first policy in audit mode, from the live cluster'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "replay" -d 'Show what a policy would have done to past jobs'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "site-note" -d 'Write a page on this cluster for a repository with job scripts'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "status" -d 'Show what slurmctld runs: build, policy, last error, counts'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "job" -d 'Show a job: requested and actual shape, what was recorded, whose doing its state is'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "compare" -d 'List every difference of two jobs in shape and lineage'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "explain" -d 'Explain a rule, or what would make a job accepted'
complete -c sluice -n "__fish_sluice_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sluice -n "__fish_sluice_using_subcommand check" -l user -d 'Judge as this user' -r
complete -c sluice -n "__fish_sluice_using_subcommand check" -l account -d 'Account that the user has an association with; the first is the default one' -r
complete -c sluice -n "__fish_sluice_using_subcommand check" -l default-qos -d 'QoS of a job that names none' -r
complete -c sluice -n "__fish_sluice_using_subcommand check" -l slurm -d 'Series of Slurm whose sbatch reads the job [default: the installed one, else the newest]' -r
complete -c sluice -n "__fish_sluice_using_subcommand check" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand check" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand check" -l fix -d 'Lay the remedies into the script\'s #SBATCH lines, and show what changed'
complete -c sluice -n "__fish_sluice_using_subcommand check" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand test" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand test" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand test" -l coverage -d 'List the rules and limits that no case touches'
complete -c sluice -n "__fish_sluice_using_subcommand test" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand validate" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand validate" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand validate" -l cluster -d 'Compare names and facts with the cluster, by scontrol and sacctmgr'
complete -c sluice -n "__fish_sluice_using_subcommand validate" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand show" -l partition -d 'Only what applies in this partition' -r
complete -c sluice -n "__fish_sluice_using_subcommand show" -l user -d 'Only what applies to this user' -r
complete -c sluice -n "__fish_sluice_using_subcommand show" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand show" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand show" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand init" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand init" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand init" -l template -d 'Write a template, without a cluster'
complete -c sluice -n "__fish_sluice_using_subcommand init" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l against -d 'Tell what changes from this policy to the other' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l html -d 'Write a page with charts as well' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l since -d 'Only jobs submitted on this day or later' -r
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l until -d 'Only jobs submitted on this day or before' -r
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l top -d 'Users, accounts and partitions to list at most' -r
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l slurm -d 'Series of Slurm that reads command lines [default: the installed, else the newest]' -r
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand replay" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand replay" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -s o -l output -d 'File to write, such as docs/slurm-site.md [default: standard output]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -l user -d 'Only what applies to this user' -r
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -l force -d 'Write over a file that was edited by hand'
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -l cluster -d 'Ask scontrol and sacctmgr for partitions, and for the accounts of --user'
complete -c sluice -n "__fish_sluice_using_subcommand site-note" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand status" -l state-dir -d 'StateSaveLocation [default: what `scontrol show config` says]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand status" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand status" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand status" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand job" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand job" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand job" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand compare" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand compare" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand compare" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand explain" -l user -d 'Judge as this user' -r
complete -c sluice -n "__fish_sluice_using_subcommand explain" -l account -d 'Account that the user has an association with; the first is the default one' -r
complete -c sluice -n "__fish_sluice_using_subcommand explain" -l default-qos -d 'QoS of a job that names none' -r
complete -c sluice -n "__fish_sluice_using_subcommand explain" -l slurm -d 'Series of Slurm whose sbatch reads the job [default: the installed one, else the newest]' -r
complete -c sluice -n "__fish_sluice_using_subcommand explain" -l policy -d 'Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]' -r -F
complete -c sluice -n "__fish_sluice_using_subcommand explain" -l format -d '`text` for people, `json` for programs' -r -f -a "text\t''
json\t''"
complete -c sluice -n "__fish_sluice_using_subcommand explain" -s h -l help -d 'Print help'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "check" -d 'Judge a script or a command line as slurmctld would'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "test" -d 'Run tests of a policy that are kept as data'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "validate" -d 'List every error and doubt of a policy'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "show" -d 'Show a policy as it applies: facts, rules, limits'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "init" -d 'Write a first policy in audit mode, from the live cluster'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "replay" -d 'Show what a policy would have done to past jobs'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "site-note" -d 'Write a page on this cluster for a repository with job scripts'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "status" -d 'Show what slurmctld runs: build, policy, last error, counts'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "job" -d 'Show a job: requested and actual shape, what was recorded, whose doing its state is'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "compare" -d 'List every difference of two jobs in shape and lineage'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "explain" -d 'Explain a rule, or what would make a job accepted'
complete -c sluice -n "__fish_sluice_using_subcommand help; and not __fish_seen_subcommand_from check test validate show init replay site-note status job compare explain help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
