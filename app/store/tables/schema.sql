CREATE TABLE api_keys (
    id VARCHAR(8) NOT NULL,
    name VARCHAR(80) NOT NULL,
    secret_hash VARCHAR(64) NOT NULL,
    scopes VARCHAR(80) NOT NULL,
    created_at DATETIME NOT NULL,
    expires_at DATETIME,
    revoked_at DATETIME,
    used_at DATETIME,
    owner VARCHAR(128) NOT NULL,
    CONSTRAINT pk_api_keys PRIMARY KEY (id)
);
CREATE TABLE audit_log (
    id VARCHAR(32) NOT NULL,
    at DATETIME NOT NULL,
    owner VARCHAR(128) NOT NULL,
    "key" VARCHAR(8) NOT NULL,
    action VARCHAR(80) NOT NULL,
    target VARCHAR(500) NOT NULL,
    request_id VARCHAR(128) NOT NULL,
    status INTEGER NOT NULL,
    CONSTRAINT pk_audit_log PRIMARY KEY (id)
);
CREATE INDEX ix_audit_log_at_id ON audit_log (at, id);
CREATE TABLE box_designs (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_box_designs PRIMARY KEY (id)
);
CREATE INDEX ix_box_designs_bandwidth_created_at_id ON box_designs (bandwidth, created_at, id);
CREATE INDEX ix_box_designs_created_at_id ON box_designs (created_at, id);
CREATE INDEX ix_box_designs_degree_created_at_id ON box_designs (degree, created_at, id);
CREATE INDEX ix_box_designs_nodes_created_at_id ON box_designs (nodes, created_at, id);
CREATE INDEX ix_box_designs_pinned_created_at_id ON box_designs (pinned, created_at, id);
CREATE INDEX ix_box_designs_size ON box_designs (size);
CREATE INDEX ix_box_designs_steps_created_at_id ON box_designs (steps, created_at, id);
CREATE INDEX ix_box_designs_used_at_id ON box_designs (used_at, id);
CREATE TABLE claims (
    id VARCHAR(64) NOT NULL,
    owner VARCHAR(32) NOT NULL,
    until FLOAT NOT NULL,
    CONSTRAINT pk_claims PRIMARY KEY (id)
);
CREATE INDEX ix_claims_owner ON claims (owner);
CREATE TABLE comparisons (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_comparisons PRIMARY KEY (id)
);
CREATE INDEX ix_comparisons_bandwidth_created_at_id ON comparisons (bandwidth, created_at, id);
CREATE INDEX ix_comparisons_created_at_id ON comparisons (created_at, id);
CREATE INDEX ix_comparisons_degree_created_at_id ON comparisons (degree, created_at, id);
CREATE INDEX ix_comparisons_nodes_created_at_id ON comparisons (nodes, created_at, id);
CREATE INDEX ix_comparisons_pinned_created_at_id ON comparisons (pinned, created_at, id);
CREATE INDEX ix_comparisons_size ON comparisons (size);
CREATE INDEX ix_comparisons_steps_created_at_id ON comparisons (steps, created_at, id);
CREATE INDEX ix_comparisons_used_at_id ON comparisons (used_at, id);
CREATE TABLE costs (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_costs PRIMARY KEY (id)
);
CREATE INDEX ix_costs_bandwidth_created_at_id ON costs (bandwidth, created_at, id);
CREATE INDEX ix_costs_created_at_id ON costs (created_at, id);
CREATE INDEX ix_costs_degree_created_at_id ON costs (degree, created_at, id);
CREATE INDEX ix_costs_nodes_created_at_id ON costs (nodes, created_at, id);
CREATE INDEX ix_costs_pinned_created_at_id ON costs (pinned, created_at, id);
CREATE INDEX ix_costs_size ON costs (size);
CREATE INDEX ix_costs_steps_created_at_id ON costs (steps, created_at, id);
CREATE INDEX ix_costs_used_at_id ON costs (used_at, id);
CREATE TABLE designs (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_designs PRIMARY KEY (id)
);
CREATE INDEX ix_designs_bandwidth_created_at_id ON designs (bandwidth, created_at, id);
CREATE INDEX ix_designs_created_at_id ON designs (created_at, id);
CREATE INDEX ix_designs_degree_created_at_id ON designs (degree, created_at, id);
CREATE INDEX ix_designs_nodes_created_at_id ON designs (nodes, created_at, id);
CREATE INDEX ix_designs_pinned_created_at_id ON designs (pinned, created_at, id);
CREATE INDEX ix_designs_size ON designs (size);
CREATE INDEX ix_designs_steps_created_at_id ON designs (steps, created_at, id);
CREATE INDEX ix_designs_used_at_id ON designs (used_at, id);
CREATE TABLE document_owners (
    kind VARCHAR(16) NOT NULL,
    document_id VARCHAR(64) NOT NULL,
    owner VARCHAR(128) NOT NULL,
    size BIGINT NOT NULL,
    CONSTRAINT pk_document_owners PRIMARY KEY (kind, document_id, owner)
);
CREATE INDEX ix_document_owners_owner_kind_size ON document_owners (owner, kind, size);
CREATE TABLE document_references (
    kind VARCHAR(16) NOT NULL,
    document_id VARCHAR(64) NOT NULL,
    to_kind VARCHAR(16) NOT NULL,
    to_id VARCHAR(64) NOT NULL,
    CONSTRAINT pk_document_references PRIMARY KEY (kind, document_id, to_kind, to_id)
);
CREATE INDEX ix_document_references_to_kind_to_id ON document_references (to_kind, to_id);
CREATE TABLE exports (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_exports PRIMARY KEY (id)
);
CREATE INDEX ix_exports_bandwidth_created_at_id ON exports (bandwidth, created_at, id);
CREATE INDEX ix_exports_created_at_id ON exports (created_at, id);
CREATE INDEX ix_exports_degree_created_at_id ON exports (degree, created_at, id);
CREATE INDEX ix_exports_nodes_created_at_id ON exports (nodes, created_at, id);
CREATE INDEX ix_exports_pinned_created_at_id ON exports (pinned, created_at, id);
CREATE INDEX ix_exports_size ON exports (size);
CREATE INDEX ix_exports_steps_created_at_id ON exports (steps, created_at, id);
CREATE INDEX ix_exports_used_at_id ON exports (used_at, id);
CREATE TABLE families (
    kind VARCHAR(16) NOT NULL,
    document_id VARCHAR(64) NOT NULL,
    family VARCHAR(64) NOT NULL,
    CONSTRAINT pk_families PRIMARY KEY (kind, document_id, family)
);
CREATE INDEX ix_families_kind_family_document_id ON families (kind, family, document_id);
CREATE TABLE frontiers (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_frontiers PRIMARY KEY (id)
);
CREATE INDEX ix_frontiers_bandwidth_created_at_id ON frontiers (bandwidth, created_at, id);
CREATE INDEX ix_frontiers_created_at_id ON frontiers (created_at, id);
CREATE INDEX ix_frontiers_degree_created_at_id ON frontiers (degree, created_at, id);
CREATE INDEX ix_frontiers_nodes_created_at_id ON frontiers (nodes, created_at, id);
CREATE INDEX ix_frontiers_pinned_created_at_id ON frontiers (pinned, created_at, id);
CREATE INDEX ix_frontiers_size ON frontiers (size);
CREATE INDEX ix_frontiers_steps_created_at_id ON frontiers (steps, created_at, id);
CREATE INDEX ix_frontiers_used_at_id ON frontiers (used_at, id);
CREATE TABLE iterations (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_iterations PRIMARY KEY (id)
);
CREATE INDEX ix_iterations_bandwidth_created_at_id ON iterations (bandwidth, created_at, id);
CREATE INDEX ix_iterations_created_at_id ON iterations (created_at, id);
CREATE INDEX ix_iterations_degree_created_at_id ON iterations (degree, created_at, id);
CREATE INDEX ix_iterations_nodes_created_at_id ON iterations (nodes, created_at, id);
CREATE INDEX ix_iterations_pinned_created_at_id ON iterations (pinned, created_at, id);
CREATE INDEX ix_iterations_size ON iterations (size);
CREATE INDEX ix_iterations_steps_created_at_id ON iterations (steps, created_at, id);
CREATE INDEX ix_iterations_used_at_id ON iterations (used_at, id);
CREATE TABLE jobs (
    id VARCHAR(32) NOT NULL,
    operation VARCHAR(40) NOT NULL,
    body TEXT NOT NULL,
    identity VARCHAR(64) NOT NULL,
    flight VARCHAR(64),
    state VARCHAR(10) NOT NULL,
    turn INTEGER NOT NULL,
    worker VARCHAR(64),
    revision INTEGER NOT NULL,
    progress FLOAT,
    phase VARCHAR(200) NOT NULL,
    cancel_asked BOOLEAN NOT NULL,
    losses INTEGER DEFAULT '0' NOT NULL,
    owner VARCHAR(128) NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    priority INTEGER NOT NULL,
    parent VARCHAR(32),
    parts INTEGER NOT NULL,
    parts_ended INTEGER NOT NULL,
    estimate_seconds FLOAT,
    made VARCHAR(64),
    problem TEXT,
    history TEXT DEFAULT '' NOT NULL,
    created_at DATETIME NOT NULL,
    started_at DATETIME,
    ended_at DATETIME,
    CONSTRAINT pk_jobs PRIMARY KEY (id),
    CONSTRAINT uq_jobs_flight UNIQUE (flight)
);
CREATE INDEX ix_jobs_created_at_id ON jobs (created_at, id);
CREATE INDEX ix_jobs_due ON jobs (owner, priority, created_at, id) WHERE flight IS NOT NULL AND worker IS NULL AND parts_ended >= parts;
CREATE INDEX ix_jobs_operation_ended_at ON jobs (operation, ended_at);
CREATE INDEX ix_jobs_owner_size ON jobs (owner, size);
CREATE INDEX ix_jobs_owner_started_at ON jobs (owner, started_at);
CREATE INDEX ix_jobs_parent ON jobs (parent);
CREATE INDEX ix_jobs_state_owner ON jobs (state, owner);
CREATE INDEX ix_jobs_worker ON jobs (worker) WHERE worker IS NOT NULL;
CREATE TABLE labels (
    kind VARCHAR(16) NOT NULL,
    document_id VARCHAR(64) NOT NULL,
    owner VARCHAR(128) NOT NULL,
    label VARCHAR(100) NOT NULL,
    CONSTRAINT pk_labels PRIMARY KEY (kind, document_id, owner, label)
);
CREATE INDEX ix_labels_kind_label_document_id ON labels (kind, label, document_id);
CREATE TABLE lr_sessions (
    id VARCHAR(64) NOT NULL,
    name VARCHAR(80) NOT NULL,
    status VARCHAR(16) NOT NULL,
    state TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    version INTEGER NOT NULL,
    lease VARCHAR(64) NOT NULL,
    lease_before VARCHAR(64) NOT NULL,
    seen_at DATETIME NOT NULL,
    created_at DATETIME NOT NULL,
    owner VARCHAR(128) DEFAULT '' NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT pk_lr_sessions PRIMARY KEY (id)
);
CREATE INDEX ix_lr_sessions_created_at_id ON lr_sessions (created_at, id);
CREATE INDEX ix_lr_sessions_owner_size ON lr_sessions (owner, size);
CREATE TABLE optima (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_optima PRIMARY KEY (id)
);
CREATE INDEX ix_optima_bandwidth_created_at_id ON optima (bandwidth, created_at, id);
CREATE INDEX ix_optima_created_at_id ON optima (created_at, id);
CREATE INDEX ix_optima_degree_created_at_id ON optima (degree, created_at, id);
CREATE INDEX ix_optima_nodes_created_at_id ON optima (nodes, created_at, id);
CREATE INDEX ix_optima_pinned_created_at_id ON optima (pinned, created_at, id);
CREATE INDEX ix_optima_size ON optima (size);
CREATE INDEX ix_optima_steps_created_at_id ON optima (steps, created_at, id);
CREATE INDEX ix_optima_used_at_id ON optima (used_at, id);
CREATE TABLE patch_plans (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_patch_plans PRIMARY KEY (id)
);
CREATE INDEX ix_patch_plans_bandwidth_created_at_id ON patch_plans (bandwidth, created_at, id);
CREATE INDEX ix_patch_plans_created_at_id ON patch_plans (created_at, id);
CREATE INDEX ix_patch_plans_degree_created_at_id ON patch_plans (degree, created_at, id);
CREATE INDEX ix_patch_plans_nodes_created_at_id ON patch_plans (nodes, created_at, id);
CREATE INDEX ix_patch_plans_pinned_created_at_id ON patch_plans (pinned, created_at, id);
CREATE INDEX ix_patch_plans_size ON patch_plans (size);
CREATE INDEX ix_patch_plans_steps_created_at_id ON patch_plans (steps, created_at, id);
CREATE INDEX ix_patch_plans_used_at_id ON patch_plans (used_at, id);
CREATE TABLE patch_progress (
    plan_id VARCHAR(64) NOT NULL,
    owner VARCHAR(128) NOT NULL,
    site VARCHAR(64),
    version INTEGER NOT NULL,
    seen TEXT NOT NULL,
    changed_at DATETIME NOT NULL,
    CONSTRAINT pk_patch_progress PRIMARY KEY (plan_id, owner),
    CONSTRAINT uq_patch_progress_site UNIQUE (site)
);
CREATE TABLE plots (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_plots PRIMARY KEY (id)
);
CREATE INDEX ix_plots_bandwidth_created_at_id ON plots (bandwidth, created_at, id);
CREATE INDEX ix_plots_created_at_id ON plots (created_at, id);
CREATE INDEX ix_plots_degree_created_at_id ON plots (degree, created_at, id);
CREATE INDEX ix_plots_nodes_created_at_id ON plots (nodes, created_at, id);
CREATE INDEX ix_plots_pinned_created_at_id ON plots (pinned, created_at, id);
CREATE INDEX ix_plots_size ON plots (size);
CREATE INDEX ix_plots_steps_created_at_id ON plots (steps, created_at, id);
CREATE INDEX ix_plots_used_at_id ON plots (used_at, id);
CREATE TABLE points (
    kind VARCHAR(16) NOT NULL,
    document_id VARCHAR(64) NOT NULL,
    position INTEGER NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    topology_id VARCHAR(64) NOT NULL,
    name VARCHAR(80) NOT NULL,
    recipe TEXT,
    nodes INTEGER NOT NULL,
    degree INTEGER NOT NULL,
    links VARCHAR(16) NOT NULL,
    parallel BOOLEAN,
    steps INTEGER NOT NULL,
    bandwidth TEXT NOT NULL,
    transpose_steps INTEGER NOT NULL,
    transpose_bandwidth TEXT NOT NULL,
    within_steps INTEGER,
    CONSTRAINT pk_points PRIMARY KEY (kind, document_id, position)
);
CREATE INDEX ix_points_nodes_degree_links ON points (nodes, degree, links);
CREATE INDEX ix_points_topology_id ON points (topology_id);
CREATE TABLE schedules (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_schedules PRIMARY KEY (id)
);
CREATE INDEX ix_schedules_bandwidth_created_at_id ON schedules (bandwidth, created_at, id);
CREATE INDEX ix_schedules_created_at_id ON schedules (created_at, id);
CREATE INDEX ix_schedules_degree_created_at_id ON schedules (degree, created_at, id);
CREATE INDEX ix_schedules_nodes_created_at_id ON schedules (nodes, created_at, id);
CREATE INDEX ix_schedules_pinned_created_at_id ON schedules (pinned, created_at, id);
CREATE INDEX ix_schedules_size ON schedules (size);
CREATE INDEX ix_schedules_steps_created_at_id ON schedules (steps, created_at, id);
CREATE INDEX ix_schedules_used_at_id ON schedules (used_at, id);
CREATE TABLE simulations (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_simulations PRIMARY KEY (id)
);
CREATE INDEX ix_simulations_bandwidth_created_at_id ON simulations (bandwidth, created_at, id);
CREATE INDEX ix_simulations_created_at_id ON simulations (created_at, id);
CREATE INDEX ix_simulations_degree_created_at_id ON simulations (degree, created_at, id);
CREATE INDEX ix_simulations_nodes_created_at_id ON simulations (nodes, created_at, id);
CREATE INDEX ix_simulations_pinned_created_at_id ON simulations (pinned, created_at, id);
CREATE INDEX ix_simulations_size ON simulations (size);
CREATE INDEX ix_simulations_steps_created_at_id ON simulations (steps, created_at, id);
CREATE INDEX ix_simulations_used_at_id ON simulations (used_at, id);
CREATE TABLE sweeps (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_sweeps PRIMARY KEY (id)
);
CREATE INDEX ix_sweeps_bandwidth_created_at_id ON sweeps (bandwidth, created_at, id);
CREATE INDEX ix_sweeps_created_at_id ON sweeps (created_at, id);
CREATE INDEX ix_sweeps_degree_created_at_id ON sweeps (degree, created_at, id);
CREATE INDEX ix_sweeps_nodes_created_at_id ON sweeps (nodes, created_at, id);
CREATE INDEX ix_sweeps_pinned_created_at_id ON sweeps (pinned, created_at, id);
CREATE INDEX ix_sweeps_size ON sweeps (size);
CREATE INDEX ix_sweeps_steps_created_at_id ON sweeps (steps, created_at, id);
CREATE INDEX ix_sweeps_used_at_id ON sweeps (used_at, id);
CREATE TABLE topologies (
    name VARCHAR(80) DEFAULT '' NOT NULL,
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_topologies PRIMARY KEY (id)
);
CREATE INDEX ix_topologies_bandwidth_created_at_id ON topologies (bandwidth, created_at, id);
CREATE INDEX ix_topologies_created_at_id ON topologies (created_at, id);
CREATE INDEX ix_topologies_degree_created_at_id ON topologies (degree, created_at, id);
CREATE INDEX ix_topologies_name ON topologies (name);
CREATE INDEX ix_topologies_nodes_created_at_id ON topologies (nodes, created_at, id);
CREATE INDEX ix_topologies_pinned_created_at_id ON topologies (pinned, created_at, id);
CREATE INDEX ix_topologies_size ON topologies (size);
CREATE INDEX ix_topologies_steps_created_at_id ON topologies (steps, created_at, id);
CREATE INDEX ix_topologies_used_at_id ON topologies (used_at, id);
CREATE TABLE verifications (
    id VARCHAR(64) NOT NULL,
    kernel_version VARCHAR(32) NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type VARCHAR(64) NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR(64) NOT NULL,
    created_at DATETIME NOT NULL,
    nodes INTEGER,
    degree INTEGER,
    links VARCHAR(16),
    steps INTEGER,
    bandwidth VARCHAR(56),
    pinned BOOLEAN DEFAULT 0 NOT NULL,
    size BIGINT DEFAULT '0' NOT NULL,
    used_at DATETIME,
    CONSTRAINT pk_verifications PRIMARY KEY (id)
);
CREATE INDEX ix_verifications_bandwidth_created_at_id ON verifications (bandwidth, created_at, id);
CREATE INDEX ix_verifications_created_at_id ON verifications (created_at, id);
CREATE INDEX ix_verifications_degree_created_at_id ON verifications (degree, created_at, id);
CREATE INDEX ix_verifications_nodes_created_at_id ON verifications (nodes, created_at, id);
CREATE INDEX ix_verifications_pinned_created_at_id ON verifications (pinned, created_at, id);
CREATE INDEX ix_verifications_size ON verifications (size);
CREATE INDEX ix_verifications_steps_created_at_id ON verifications (steps, created_at, id);
CREATE INDEX ix_verifications_used_at_id ON verifications (used_at, id);
CREATE TABLE workers (
    id VARCHAR(64) NOT NULL,
    place VARCHAR(200) NOT NULL,
    process VARCHAR(64) NOT NULL,
    beats INTEGER NOT NULL,
    started_at DATETIME NOT NULL,
    CONSTRAINT pk_workers PRIMARY KEY (id)
);
CREATE TABLE job_parts (
    job_id VARCHAR(32) NOT NULL,
    part_id VARCHAR(32) NOT NULL,
    CONSTRAINT pk_job_parts PRIMARY KEY (job_id, part_id),
    CONSTRAINT fk_job_parts_job_id_jobs FOREIGN KEY(job_id) REFERENCES jobs (id),
    CONSTRAINT fk_job_parts_part_id_jobs FOREIGN KEY(part_id) REFERENCES jobs (id)
);
CREATE INDEX ix_job_parts_part_id ON job_parts (part_id);
CREATE TABLE job_webhooks (
    id VARCHAR(32) NOT NULL,
    job_id VARCHAR(32) NOT NULL,
    url VARCHAR(2000) NOT NULL,
    host VARCHAR(300) NOT NULL,
    state VARCHAR(10) NOT NULL,
    turn INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    due FLOAT NOT NULL,
    log JSON NOT NULL,
    CONSTRAINT pk_job_webhooks PRIMARY KEY (id),
    CONSTRAINT uq_job_webhooks_job_id_url UNIQUE (job_id, url),
    CONSTRAINT fk_job_webhooks_job_id_jobs FOREIGN KEY(job_id) REFERENCES jobs (id)
);
CREATE INDEX ix_job_webhooks_state ON job_webhooks (state);
CREATE TABLE lr_observations (
    session_id VARCHAR(64) NOT NULL,
    entry INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    unasked BOOLEAN NOT NULL,
    losses TEXT NOT NULL,
    action TEXT NOT NULL,
    stage INTEGER NOT NULL,
    trial INTEGER,
    start INTEGER NOT NULL,
    answer TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    step INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    state TEXT,
    created_at DATETIME NOT NULL,
    CONSTRAINT pk_lr_observations PRIMARY KEY (session_id, entry),
    CONSTRAINT fk_lr_observations_session_id_lr_sessions FOREIGN KEY(session_id) REFERENCES lr_sessions (id) ON DELETE CASCADE
);
CREATE INDEX ix_lr_observations_session_id_sequence_entry ON lr_observations (session_id, sequence, entry);
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
