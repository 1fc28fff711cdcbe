CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE USER IF NOT EXISTS slurm@'%' IDENTIFIED BY 'only-in-this-network';
GRANT ALL ON slurm_acct_db.* TO slurm@'%';
