-- The rules of examples/example.toml for job_submit/lua, written for speed: each field is read once,
-- everything that can be is worked out when the script is loaded, and a job that asks for nothing
-- special leaves early. `make bench` measures Sluice against it.

local NO_VAL, NO_VAL16, NO_VAL64 = slurm.NO_VAL, slurm.NO_VAL16, slurm.NO_VAL64
local EXCLUSIVE, USER, MCS = 0, 2, 3
local WRAP = "#!/bin/sh\n# This script was created by sbatch --wrap.\n"

local PARTITIONS = {
	gpu = { cpus = 64, gpus = 4, mem = 512000, cpus_per_gpu = 4, cpus_per_gpu_max = 8,
		mem_per_gpu_max = 122880 },
	cpu = { cpus = 128, gpus = 0, mem = 256000 },
	["phys-a100"] = { cpus = 64, gpus = 4, mem = 512000, cpus_per_gpu = 4, cpus_per_gpu_max = 16,
		mem_per_gpu_max = 122880, owner = "physics", lent = "scavenger" },
}
local DEFAULT_PARTITION = "gpu"

local problems

local function problem(rule, text)
	problems[#problems + 1] = "[" .. rule .. "] " .. text
end

-- GPUs of a TRES list; nil where it names none.
local function gpus_in(list)
	if list == nil or list == "" then return nil end
	local sum
	for item in string.gmatch(list, "[^,]+") do
		local rest = string.match(item, "^gres[:/](.*)$") or item
		if string.sub(rest, 1, 3) == "gpu" then
			local count = string.match(rest, "[:=](%d+)$")
			sum = (sum or 0) + (tonumber(count) or 1)
		end
	end
	return sum
end

-- A number of the job description, or nil where it is not stated.
local function stated(n, unset)
	if n == nil or n == unset then return nil end
	return n
end

local function shape(job)
	local nodes = stated(job.min_nodes, NO_VAL) or 1
	if nodes == 0 then nodes = 1 end
	local tasks = stated(job.num_tasks, NO_VAL)
	local per_node = stated(job.ntasks_per_node, NO_VAL16)
	local count = tasks or (per_node and per_node * nodes) or nodes
	local gpus = gpus_in(job.tres_per_job)
	local node_gpus = gpus_in(job.tres_per_node)
	if gpus == nil and node_gpus then gpus = node_gpus * nodes end
	if gpus == nil then
		local each = gpus_in(job.tres_per_task)
		if each then gpus = each * count end
	end
	if gpus == nil then
		local each, sockets = gpus_in(job.tres_per_socket), stated(job.sockets_per_node, NO_VAL16)
		if each then gpus = each * (sockets or 1) * nodes end
	end
	local per_task = stated(job.cpus_per_task, NO_VAL16)
	local cpus = count * (per_task or 1)
	local cpus_per_gpu = gpus_in(job.cpus_per_tres)
	if cpus_per_gpu and gpus and cpus_per_gpu * gpus > cpus then cpus = cpus_per_gpu * gpus end
	local min_cpus = stated(job.min_cpus, NO_VAL)
	if min_cpus and min_cpus > cpus then cpus = min_cpus end
	local pn_min_cpus = stated(job.pn_min_cpus, NO_VAL16)
	if pn_min_cpus and pn_min_cpus * nodes > cpus then cpus = pn_min_cpus * nodes end
	return nodes, tasks, gpus, cpus, per_task, cpus_per_gpu, pn_min_cpus
end

function slurm_job_submit(job, part_list, submit_uid)
	problems = {}
	local notes
	local name = job.partition or DEFAULT_PARTITION
	local facts = PARTITIONS[name]
	local script = job.script
	local array = job.array_inx
	local time = stated(job.time_limit, NO_VAL)
	local nodes, tasks, gpus, cpus, per_task, cpus_per_gpu, pn_min_cpus = shape(job)
	local has_gpus = gpus and gpus > 0

	-- exclusive
	local shared = job.shared
	if shared == EXCLUSIVE then
		problem("exclusive", "--exclusive takes whole nodes; partition " .. name ..
			" shares its nodes\n  drop --exclusive")
	elseif shared == USER or shared == MCS then
		problem("exclusive", "--exclusive keeps other users off the nodes; partition " .. name ..
			" shares its nodes\n  drop --exclusive")
	end
	-- Read in both forms: lua shows nil for the one that does not hold.
	local per_node, per_cpu = job.min_mem_per_node, job.min_mem_per_cpu
	if per_node == 0 or per_cpu == 0 then
		problem("exclusive", "--mem=0 takes all memory of each node\n  drop --mem")
	end
	if facts then
		local per_node_cpus = cpus / nodes
		local node_gpus = has_gpus and gpus / nodes or 0
		local share = facts.cpus_per_gpu_max and facts.cpus_per_gpu_max * node_gpus or 0
		if per_node_cpus >= facts.cpus and per_node_cpus > share then
			problem("exclusive", cpus .. " CPUs are all of a node; partition " .. name ..
				" shares its nodes\n  ask for less than " .. facts.cpus .. " CPUs a node")
		end
		if per_node and per_node >= facts.mem then
			local allowed = facts.mem_per_gpu_max and facts.mem_per_gpu_max * node_gpus or 0
			if per_node > allowed then
				problem("exclusive", "all memory of a node; partition " .. name ..
					" shares its nodes\n  ask for less")
			end
		end
	end

	-- cpus-per-gpu
	if has_gpus and facts and facts.cpus_per_gpu then
		local silent = per_task == nil and cpus_per_gpu == nil and per_cpu == nil
			and (pn_min_cpus == nil or pn_min_cpus <= 1)
			and stated(job.sockets_per_node, NO_VAL16) == nil
			and stated(job.cores_per_socket, NO_VAL16) == nil
			and stated(job.threads_per_core, NO_VAL16) == nil
			and stated(job.ntasks_per_core, NO_VAL16) == nil
			and stated(job.ntasks_per_socket, NO_VAL16) == nil
		if silent and (tasks or 1) <= facts.cpus_per_gpu * gpus then
			if shared ~= EXCLUSIVE then
				job.cpus_per_tres = "gres:gpu:" .. facts.cpus_per_gpu
				notes = "filled in: --cpus-per-gpu=" .. facts.cpus_per_gpu
			end
		elseif cpus > facts.cpus_per_gpu_max * gpus then
			problem("cpus-per-gpu", cpus .. " CPUs for " .. gpus .. " GPUs is " .. cpus / gpus ..
				" per GPU; partition " .. name .. " gives at most " .. facts.cpus_per_gpu_max ..
				"\n  use --cpus-per-gpu=" .. facts.cpus_per_gpu_max .. " or less")
		end
	end

	-- qos-entitlement
	local qos = job.qos
	if facts and facts.owner then
		local account = job.account or job.default_account
		if account ~= facts.owner then
			if qos == nil then
				job.qos = facts.lent
				notes = "filled in: --qos=" .. facts.lent
			elseif qos ~= facts.lent then
				problem("qos-entitlement", "QoS " .. qos .. " is not for guests; partition " .. name ..
					" takes guests only under " .. facts.lent .. "\n  use --qos=" .. facts.lent)
			end
		end
	end

	-- array-logs
	if array then
		for option, path in pairs({ output = job.std_out, error = job.std_err }) do
			if path ~= "" and path ~= "/dev/null" then
				local plain = string.gsub(path, "%%%%", "")
				if not (string.find(plain, "%%%d*A") and string.find(plain, "%%%d*a")) then
					problem("array-logs", "array tasks write to " .. path ..
						"\n  use --" .. option .. "=%A_%a.out")
				end
			end
		end
	end

	-- limits
	if script == nil and name == "gpu" then
		if time and time > 240 then
			problem("interactive", "at most 4:00:00 here: long interactive sessions keep GPUs idle")
		end
		if gpus and gpus > 1 then
			problem("interactive", "at most 1 GPU here: long interactive sessions keep GPUs idle")
		end
	end
	if gpus and gpus > 8 then
		problem("many-gpus", gpus .. " GPUs; this site allows at most 8")
	end

	if #problems > 0 then
		slurm.log_user("%s", "Example Lab refuses this job: " .. #problems .. " problems\n" ..
			table.concat(problems, "\n"))
		return slurm.ERROR
	end

	-- habits: warnings
	if script and string.sub(script, 1, #WRAP) == WRAP then
		notes = (notes and notes .. "\n" or "") .. "note: [wrap] --wrap runs an inline command"
	end
	if time and time < 10 and qos ~= "debug" and array == nil then
		qos = qos or job.default_qos
		if qos then
			notes = (notes and notes .. "\n" or "") .. "note: [short-job] use --qos=debug"
		end
	end
	local dependency = job.dependency
	if dependency and string.find(dependency, "afterok", 1, true) then
		for id in string.gmatch(dependency, "%d+") do
			local other = slurm.jobs and slurm.jobs[id]
			if other and other.array_job_id == tonumber(id) then
				notes = (notes and notes .. "\n" or "") .. "note: [dependency] use afterany"
			end
		end
	end
	if notes then slurm.log_user("%s", notes) end
	return slurm.SUCCESS
end

function slurm_job_modify(job, existing, part_list, submit_uid)
	return slurm.SUCCESS
end

return slurm.SUCCESS
