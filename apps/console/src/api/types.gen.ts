// Made from openapi.json by `npm run generate`.
export interface paths {
    "/v1/agents": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List agents, newest first */
        get: operations["agents.list"];
        put?: never;
        /** Register an agent */
        post: operations["agents.create"];
        delete?: never;
        patch?: never;
    };
    "/v1/agents/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read an agent, whatever its status */
        get: operations["agents.get"];
        put?: never;
        post?: never;
        /** Revoke an agent and everything granted to it */
        delete: operations["agents.revoke"];
        /** Change an agent; suspend or resume it */
        patch: operations["agents.change"];
    };
    "/v1/agents/{id}/oauth": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read how an agent is an OAuth client, without its secret */
        get: operations["oauth.getClient"];
        /**
         * Make an agent an OAuth client
         * @description Its `client_id` is the id of the agent. A secret is shown once, when it is made.
         */
        put: operations["oauth.putClient"];
        post?: never;
        /** Let an agent be no OAuth client any longer */
        delete: operations["oauth.deleteClient"];
        patch?: never;
    };
    "/v1/agents/{id}/offboarding": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a signed statement that nothing of a revoked agent was left */
        get: operations["agents.offboarding"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/agents/{id}/workloads": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the issuers that identify an agent, newest first */
        get: operations["workloads.list"];
        put?: never;
        /**
         * Trust the JWTs of an issuer to identify an agent
         * @description The agent then shows such a JWT at `POST /oauth/token` as its `client_assertion`, once its `authMethod` is `workload_jwt`.
         */
        post: operations["workloads.add"];
        delete?: never;
        patch?: never;
    };
    "/v1/agents/{id}/workloads/{workloadId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Trust an issuer no longer */
        delete: operations["workloads.remove"];
        patch?: never;
    };
    "/v1/anomalies": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List anomalies, newest first
         * @description `total` counts the open ones.
         */
        get: operations["anomalies.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/anomalies/{id}/acknowledge": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        /** Acknowledge an anomaly */
        patch: operations["anomalies.acknowledge"];
    };
    "/v1/anomalies/detect": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Detect anomalies now
         * @description The answer has what is true now, whether it was found before or not.
         */
        post: operations["anomalies.detect"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/alerts": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List alerts, newest first */
        get: operations["anomalies.alerts"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/alerts/{alertId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read an alert */
        get: operations["anomalies.getAlert"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/alerts/{alertId}/acknowledge": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge an alert */
        post: operations["anomalies.acknowledgeAlert"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/alerts/{alertId}/resolve": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Resolve an alert */
        post: operations["anomalies.resolveAlert"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/channels": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List channels, oldest first */
        get: operations["anomalies.channels"];
        put?: never;
        /**
         * Add a channel for messages about new alerts
         * @description A `webhook` needs `url` and `secret`, `slack` needs `webhookUrl`, and `email` needs `to`, whose holders are mailed a link to confirm first. Answers mask secrets and cut URLs.
         */
        post: operations["anomalies.createChannel"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/channels/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a channel */
        delete: operations["anomalies.removeChannel"];
        /** Change a channel */
        patch: operations["anomalies.changeChannel"];
    };
    "/v1/anomaly/channels/{id}/test": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Send a test message to a channel */
        post: operations["anomalies.testChannel"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/metrics": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Count alerts by status, severity and rule */
        get: operations["anomalies.metrics"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/recipients/{token}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show a mailed link, as a page with one button unless JSON is asked for */
        get: operations["anomalies.showRecipient"];
        put?: never;
        /** Confirm that messages of a channel may come to the address that a mailed link was sent to */
        post: operations["anomalies.confirmRecipient"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/rules": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List the rules of detection
         * @description Built-in rules come first, each as the developer has set it.
         */
        get: operations["anomalies.rules"];
        put?: never;
        /**
         * Add a rule
         * @description The rule fires for an agent with more than `threshold` matching entries in the window. An entry matches when it is among each of the given lists.
         */
        post: operations["anomalies.createRule"];
        delete?: never;
        patch?: never;
    };
    "/v1/anomaly/rules/{ruleId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a rule of the account */
        delete: operations["anomalies.removeRule"];
        /** Change a rule, or what a built-in rule does for this account */
        patch: operations["anomalies.changeRule"];
    };
    "/v1/approver/absence": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        /** Record an absence of one’s own, with or without a deputy */
        put: operations["approver.setAbsence"];
        post?: never;
        /** End one’s own absence */
        delete: operations["approver.endAbsence"];
        patch?: never;
    };
    "/v1/approver/colleagues": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the people who wait for somebody to vouch for them, who may stand in, or whom the operator lets enrol once more */
        get: operations["approver.colleagues"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/colleagues/{id}/confirm": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Vouch for a person who has enrolled */
        post: operations["approver.confirm"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/confirm": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Confirm, as a principal, that it was you who enrolled, by the link in your mail */
        post: operations["approver.confirmSelf"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/decisions": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the requests that go to the approver: the open ones, or those that ended */
        get: operations["approver.decisions"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/decisions/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show the approver the exact call */
        get: operations["approver.decision"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/decisions/{id}/approve": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Approve the call with the signature of a passkey over its hash */
        post: operations["approver.approve"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/decisions/{id}/deny": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Refuse the call, for good */
        post: operations["approver.deny"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/decisions/{id}/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Ask for the passkey of the approver over the call */
        post: operations["approver.approveOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/enrol/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to enrol with the link of an invitation */
        post: operations["approver.enrolOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/enrol/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Enrol with the passkey that the authenticator has made */
        post: operations["approver.enrol"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/events": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Follow the requests that go to the approver, as server-sent events
         * @description The stream holds the events `decision.*` of these requests, and none while the approver is absent. It does not count as use of the session, and ends with it.
         */
        get: operations["approver.events"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/me": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show one’s own record */
        get: operations["approver.me"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/notifications": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the browsers in which one has turned on notifications, oldest first */
        get: operations["approver.notifications"];
        /**
         * Turn on notifications in this browser (Web Push)
         * @description A message carries the headline of a call and a link to it, encrypted for this browser, and decides nothing. An approver has at most 5 browsers. A browser that is known already gets its new keys.
         */
        put: operations["approver.turnOnNotifications"];
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/notifications/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Turn off notifications in one of one’s own browsers */
        delete: operations["approver.turnOffNotifications"];
        patch?: never;
    };
    "/v1/approver/passkeys": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List one’s own passkeys, newest first */
        get: operations["approver.passkeys"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/approver/passkeys/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove one of one’s own passkeys, and end the sessions of other browsers */
        delete: operations["approver.removePasskey"];
        patch?: never;
    };
    "/v1/approver/passkeys/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to make a further passkey, within five minutes of the last sign-in */
        post: operations["approver.passkeyOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/passkeys/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Add the passkey that the authenticator has made */
        post: operations["approver.addPasskey"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/recoveries/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Stop a link of the operator that would replace the passkeys of an approver */
        delete: operations["approver.cancelRecovery"];
        patch?: never;
    };
    "/v1/approver/session": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show the approver who is signed in */
        get: operations["approver.session"];
        put?: never;
        post?: never;
        /** Sign out */
        delete: operations["approver.signOut"];
        patch?: never;
    };
    "/v1/approver/session/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to sign in with the passkey of an approver */
        post: operations["approver.signInOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/approver/session/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Sign in with the passkey of an approver */
        post: operations["approver.signIn"];
        delete?: never;
        patch?: never;
    };
    "/v1/approvers": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List approvers, newest first */
        get: operations["approvers.list"];
        put?: never;
        /**
         * Invite a person to decide about calls
         * @description The link goes by mail where the service can send it, and into the answer otherwise. The first person of an account decides 24 hours after they enrol; each later one after another approver has confirmed them. The link of a principal of a live account goes by mail alone.
         */
        post: operations["approvers.invite"];
        delete?: never;
        patch?: never;
    };
    "/v1/approvers/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove an approver at once */
        delete: operations["approvers.remove"];
        /** Change the groups or connectors of an approver, or suspend them */
        patch: operations["approvers.change"];
    };
    "/v1/approvers/{id}/absence": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        /** Record the absence of an approver, with or without a deputy */
        put: operations["approvers.setAbsence"];
        post?: never;
        /** End the absence of an approver */
        delete: operations["approvers.endAbsence"];
        patch?: never;
    };
    "/v1/audit/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read an audit entry */
        get: operations["audit.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/audit/{id}/explanation": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Explain the answer to a call or a refused request: each check with its facts, and what would allow it
         * @description For entries `tool.enforce`, and for requests of consent and delegations that were refused: `authorization.blocked`, `policy.denied` and `authorization.scope_refused`. A fact is what the entry recorded, or what is true now, and says which. No argument’s value is kept, so none is shown.
         */
        get: operations["audit.explain"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/audit/entries": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List audit entries in the order of the chain */
        get: operations["audit.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/audit/erasures": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase the content of a person from audit entries
         * @description The hashes stay, so the chain can be checked as before; the person, the salt and personal members of the metadata go. Refused while the person has an active grant, or a legal hold about them or the account stands.
         */
        post: operations["audit.erase"];
        delete?: never;
        patch?: never;
    };
    "/v1/audit/erasures/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read how far an erasure is */
        get: operations["audit.getErasure"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/audit/head": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the head of the chain and its newest checkpoint */
        get: operations["audit.head"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/audit/log": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Append an entry about an act of an agent */
        post: operations["audit.append"];
        delete?: never;
        patch?: never;
    };
    "/v1/audit/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Verify the chain, or a range of it */
        get: operations["audit.verify"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/authorize": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List authorization requests, newest first
         * @description A page looks at 2,000 requests at most. It may be short, or empty, and the list goes on while there is a `nextCursor`.
         */
        get: operations["authorization.list"];
        put?: never;
        /**
         * Ask a principal for consent
         * @description Send the person to `consentUrl`. In the sandbox the answer has the `code` already, unless `autoApprove` is false.
         */
        post: operations["authorization.request"];
        delete?: never;
        patch?: never;
    };
    "/v1/authorize/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read an authorization request */
        get: operations["authorization.get"];
        put?: never;
        post?: never;
        /** Cancel an open authorization request */
        delete: operations["authorization.cancel"];
        patch?: never;
    };
    "/v1/authorize/{id}/approve": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Approve an authorization request in the sandbox */
        post: operations["authorization.approve"];
        delete?: never;
        patch?: never;
    };
    "/v1/authorize/{id}/code": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Get a code for an approved request without a redirect URI */
        post: operations["authorization.code"];
        delete?: never;
        patch?: never;
    };
    "/v1/authorize/{id}/deny": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Deny an authorization request in the sandbox */
        post: operations["authorization.deny"];
        delete?: never;
        patch?: never;
    };
    "/v1/authorize/{id}/link": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a new link to the consent page for a pending request
         * @description The link before opens nothing from then on.
         */
        post: operations["authorization.link"];
        delete?: never;
        patch?: never;
    };
    "/v1/billing/checkout": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin the payment of a plan */
        post: operations["billing.checkout"];
        delete?: never;
        patch?: never;
    };
    "/v1/billing/portal": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the page on which the subscription is changed */
        post: operations["billing.portal"];
        delete?: never;
        patch?: never;
    };
    "/v1/billing/subscription": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get the subscription of the account */
        get: operations["billing.subscription"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/billing/webhook": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Receive an event of the payment provider */
        post: operations["billing.webhook"];
        delete?: never;
        patch?: never;
    };
    "/v1/budget/allocate": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Give a grant a budget */
        post: operations["budgets.allocate"];
        delete?: never;
        patch?: never;
    };
    "/v1/budget/allocations": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List budgets, newest first */
        get: operations["budgets.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/budget/balance/{grantId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get the budget of a grant */
        get: operations["budgets.balance"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/budget/debit": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Debit the budget of a grant, and those above it */
        post: operations["budgets.debit"];
        delete?: never;
        patch?: never;
    };
    "/v1/budget/refund": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Give a debit back, or a part of it */
        post: operations["budgets.refund"];
        delete?: never;
        patch?: never;
    };
    "/v1/budget/transactions/{grantId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the debits and refunds of a grant’s budget, newest first */
        get: operations["budgets.transactions"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/budget/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Add up the ledger of all budgets */
        get: operations["budgets.verify"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List changes that waited for a second member, newest first
         * @description Decided ones stay for 30 days.
         */
        get: operations["changes.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/changes/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a change that waits for a second member, or did */
        get: operations["changes.get"];
        put?: never;
        post?: never;
        /** Take back a change that waits for a second member */
        delete: operations["changes.withdraw"];
        patch?: never;
    };
    "/v1/changes/{id}/approve": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Agree to a change as a second member
         * @description No API key agrees. The member is another one than who proposed it, with the capability of the operation and a fresh use of their passkey. When enough have agreed, the change is made in the same transaction, or not at all if what it changes is another one meanwhile.
         */
        post: operations["changes.approve"];
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/evidence-pack": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Make a signed pack of evidence that an auditor can check without the service */
        get: operations["compliance.evidencePack"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/export/audit": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Export audit entries as JSON, as lines of JSON, as CSV or as events of OCSF */
        get: operations["compliance.exportAudit"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/export/grants": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Export grants as JSON, as lines of JSON or as CSV */
        get: operations["compliance.exportGrants"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/export/principal": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Export everything that is kept about a person
         * @description For a request of a person for access to their data. The id is compared exactly. No record has a secret or a credential.
         */
        get: operations["compliance.exportPrincipal"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/holds": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List legal holds, newest first */
        get: operations["compliance.listHolds"];
        put?: never;
        /**
         * Place a legal hold
         * @description While a hold stands, the account cannot be closed, so nothing of it is erased.
         */
        post: operations["compliance.placeHold"];
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/holds/{id}/release": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a legal hold
         * @description The hold stays in the list. To release it again changes nothing.
         */
        post: operations["compliance.releaseHold"];
        delete?: never;
        patch?: never;
    };
    "/v1/compliance/summary": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Count agents, grants, audit entries and policies */
        get: operations["compliance.summary"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show the person what is connected for whom */
        get: operations["connections.show"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/cancel": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Go no further as the person */
        post: operations["connections.abandon"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/confirm": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Connect the account that came back */
        post: operations["connections.confirm"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/email": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Send the person a code by mail */
        post: operations["connections.sendCode"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/email/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Check the code that the person typed */
        post: operations["connections.checkCode"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/hint": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Show the developer's word for the person in this browser */
        post: operations["connections.hint"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/passkey/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Ask for the person's passkey over what is to be connected */
        post: operations["connections.passkeyOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/passkey/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Check the answer of the person's passkey */
        post: operations["connections.passkeyVerify"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/session": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the page with the ticket in the link */
        post: operations["connections.open"];
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/sso": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Find the address at which the person signs in, and from which the browser comes back to the page */
        get: operations["connections.signOn"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/connect/{id}/start": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Go to the upstream as the person */
        post: operations["connections.start"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show the request to the person */
        get: operations["consent.show"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/approve": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Approve the request, or less of it, as the person */
        post: operations["consent.approve"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/deny": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Deny the request as the person */
        post: operations["consent.deny"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/email": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Send the person a code by mail */
        post: operations["consent.sendCode"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/email/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Check the code that the person typed */
        post: operations["consent.checkCode"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/passkey/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Ask for the person's passkey over what they see and choose */
        post: operations["consent.passkeyOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/passkey/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Check the answer of the person's passkey */
        post: operations["consent.passkeyVerify"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/permissions": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the page of the own permissions, for a person who has shown who they are on this page */
        post: operations["consent.openPermissions"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/session": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the page's session with the ticket in the link */
        post: operations["consent.open"];
        delete?: never;
        patch?: never;
    };
    "/v1/consent/{id}/sso": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Find the address at which the person signs in, and from which the browser comes back to the page */
        get: operations["consent.signOn"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/console/join/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** See an invitation, and begin to accept it */
        post: operations["console.joinOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/join/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Become a member with the passkey that the authenticator has made */
        post: operations["console.join"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/passkeys": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List your passkeys of the console, newest first */
        get: operations["console.passkeys"];
        put?: never;
        /**
         * Register the passkey that the authenticator has made
         * @description A further passkey needs a use of one that is registered.
         */
        post: operations["console.addPasskey"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/passkeys/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a passkey, and end your other sessions */
        delete: operations["console.removePasskey"];
        patch?: never;
    };
    "/v1/console/passkeys/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to register a passkey for the console */
        post: operations["console.passkeyOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/recovery-codes": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make yourself other recovery codes
         * @description Those from before end.
         */
        post: operations["console.makeRecoveryCodes"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the session of this browser */
        get: operations["console.session"];
        put?: never;
        post?: never;
        /** End the session of this browser */
        delete: operations["console.signOut"];
        patch?: never;
    };
    "/v1/console/session/key": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the console with an API key, as its first owner
         * @description Only while a live account has no member. A sandbox account takes its key each time. The session ends with the key.
         */
        post: operations["console.signInByKey"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/link": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the console by a link */
        post: operations["console.openLink"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/links": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link that opens the console once
         * @description It works for ten minutes, where the key itself would. Without an address it signs in the first owner.
         */
        post: operations["console.createLink"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/passkey/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to sign in to the console with a passkey */
        post: operations["console.signInOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/passkey/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the console with a passkey */
        post: operations["console.signIn"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/recover": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the console by a recovery code, to register a passkey
         * @description Each code works once. Until the member registers another passkey, the session can do nothing else. Existing passkeys stay. All owners are told.
         */
        post: operations["console.recover"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/sso": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Send a browser to the identity provider of its organisation, and then to the console
         * @description By a verified domain of a connection with `consoleAccess`, or by the id of an account that has one.
         */
        get: operations["console.beginSignOn"];
        put?: never;
        /**
         * Open the console by a sign-in at an identity provider in the last ten minutes
         * @description The groups of that sign-in decide on the role, each time. The session ends with the one at the provider.
         */
        post: operations["console.signOn"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/step-up/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to use the passkey again */
        post: operations["console.stepUpOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/session/step-up/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let this session do for a while what asks for a passkey
         * @description The session gets another cookie and another CSRF token.
         */
        post: operations["console.stepUp"];
        delete?: never;
        patch?: never;
    };
    "/v1/console/sessions": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List open sessions of the console, newest first
         * @description Your own. Who may govern the account sees those of everybody.
         */
        get: operations["console.sessions"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/console/sessions/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a session of the console */
        delete: operations["console.revokeSession"];
        patch?: never;
    };
    "/v1/credentials": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List credentials, newest first */
        get: operations["verifiableCredentials.list"];
        put?: never;
        /** Issue a credential about a grant */
        post: operations["verifiableCredentials.issue"];
        delete?: never;
        patch?: never;
    };
    "/v1/credentials/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a credential */
        get: operations["verifiableCredentials.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/credentials/{id}/revoke": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a credential, whose grant lives on */
        post: operations["verifiableCredentials.revoke"];
        delete?: never;
        patch?: never;
    };
    "/v1/credentials/present": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Verify what a holder shows of an SD-JWT */
        post: operations["verifiableCredentials.present"];
        delete?: never;
        patch?: never;
    };
    "/v1/credentials/status/{listId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a Bitstring Status List */
        get: operations["verifiableCredentials.statusList"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/credentials/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Verify a credential */
        post: operations["verifiableCredentials.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/decision-channels": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the channels that hear of requests, oldest first */
        get: operations["decisions.listChannels"];
        put?: never;
        /** Add a channel of Slack or Microsoft Teams that hears of requests */
        post: operations["decisions.addChannel"];
        delete?: never;
        patch?: never;
    };
    "/v1/decision-channels/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a channel, with the messages on their way to it */
        delete: operations["decisions.removeChannel"];
        patch?: never;
    };
    "/v1/decisions": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List requests for decisions, newest first */
        get: operations["decisions.list"];
        put?: never;
        /**
         * Ask people to decide about one exact call
         * @description Asking decides nothing: people approve on the page `url`, each with a passkey of their own. A call that another check refuses asks nobody. The same call asks once while its request is open, and after a refusal not before its time is over. A call with a `callId` gets its own request again, also once its approvals are used.
         */
        post: operations["decisions.request"];
        delete?: never;
        patch?: never;
    };
    "/v1/decisions/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a request, with its approvals */
        get: operations["decisions.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/decisions/{id}/cancel": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Take a request back, with whatever was approved */
        post: operations["decisions.cancel"];
        delete?: never;
        patch?: never;
    };
    "/v1/decisions/{id}/grants": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Get the decision grants of an approved request, as the agent and grant that asked */
        post: operations["decisions.grants"];
        delete?: never;
        patch?: never;
    };
    "/v1/decisions/cases/{caseName}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        /** Set the version of a case, which ends the requests about its other versions */
        put: operations["decisions.setCaseVersion"];
        post?: never;
        /**
         * Close a case, which ends its requests and forgets what its calls used
         * @description Calls that name the case afterwards count against caps by case from zero. Where Redis counts caps, the units of the case stay.
         */
        delete: operations["decisions.closeCase"];
        patch?: never;
    };
    "/v1/decisions/consume": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a step with decision grants: hold, send, spend or release them for one call
         * @description All grants move together or none does. The same call may repeat its step after a lost answer; another call is refused with `details.sub_reason` `consumed`. A held decision that is not sent within 30 seconds is free again.
         */
        post: operations["decisions.consume"];
        delete?: never;
        patch?: never;
    };
    "/v1/device": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Enter the code of a device, as the person */
        post: operations["oauth.enterCode"];
        delete?: never;
        patch?: never;
    };
    "/v1/device/brand": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Show whose device waits with a code */
        post: operations["oauth.codeBrand"];
        delete?: never;
        patch?: never;
    };
    "/v1/dids/{did}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Resolve a DID of the service, of an agent or of a key */
        get: operations["dids.resolve"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/domains": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List domains, newest first */
        get: operations["domains.list"];
        put?: never;
        /** Register a domain */
        post: operations["domains.add"];
        delete?: never;
        patch?: never;
    };
    "/v1/domains/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a domain */
        get: operations["domains.get"];
        put?: never;
        post?: never;
        /** Delete a domain */
        delete: operations["domains.delete"];
        patch?: never;
    };
    "/v1/domains/{id}/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Look for the TXT record of a domain */
        post: operations["domains.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/enforce": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask whether a call of a tool may happen now
         * @description A denial is an answer, with status 200: read `allowed`. Each answer is in the audit log.
         */
        post: operations["enforcement.enforce"];
        delete?: never;
        patch?: never;
    };
    "/v1/enforce/{callId}/refund": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Say that an allowed call was never sent, so that its units are free again */
        post: operations["enforcement.refund"];
        delete?: never;
        patch?: never;
    };
    "/v1/enforce/{callId}/sent": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Say that an allowed call was sent, so that its units stay charged */
        post: operations["enforcement.sent"];
        delete?: never;
        patch?: never;
    };
    "/v1/enforce/tools": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Select the tools that some call with a token could use */
        post: operations["enforcement.listTools"];
        delete?: never;
        patch?: never;
    };
    "/v1/enforce/usage": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read what a grant has used of the caps of a tool */
        get: operations["enforcement.usage"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the events of the last 72 hours, oldest first */
        get: operations["events.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/events/stream": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Follow events as they happen, as server-sent events or lines of JSON
         * @description With `format=ndjson` each line is an envelope, with `format=ocsf` an event of OCSF 1.6.0. An empty line every 30 seconds keeps the connection alive.
         */
        get: operations["events.stream"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/events/ws": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Follow events as they happen, over a WebSocket */
        get: operations["events.socket"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/grants": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List grants, newest first */
        get: operations["grants.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/grants/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a grant */
        get: operations["grants.get"];
        put?: never;
        post?: never;
        /**
         * Revoke a grant, its tokens and everything delegated from it
         * @description With `wait=confirmed` the answer is a signed statement of who has confirmed that they accept the grant no more. The grant is revoked before the wait. A repeated call waits again, until a statement is complete.
         */
        delete: operations["grants.revoke"];
        patch?: never;
    };
    "/v1/grants/{id}/receipt": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get the receipt of a grant: what was approved, done under it and ended, with its proofs */
        get: operations["grants.receipt"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/grants/{id}/revocation": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the newest statement about the revocation of a grant */
        get: operations["grants.revocation"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/grants/{id}/tokens": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the tokens of a grant, newest first; never their text */
        get: operations["grants.tokens"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/grants/delegate": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a part of a grant to another agent
         * @description The new grant reaches no further than its parent. It ends with the parent at the latest, and is revoked with it. A parent token that is bound to a key needs a `DPoP` proof of that key.
         */
        post: operations["grants.delegate"];
        delete?: never;
        patch?: never;
    };
    "/v1/grants/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Ask whether a grant token is valid now, with the older answer */
        post: operations["grants.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/insights/denials": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Count denied calls by reason
         * @description Denials of calls that were made, in the whole hours that the span touches. Counts are kept for 90 days.
         */
        get: operations["insights.denials"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/insights/series": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Count what happened by hour or day
         * @description Denials are those of calls that were made, and decisions those that a person granted or denied. Counts are kept for 90 days.
         */
        get: operations["insights.series"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List API keys, newest first */
        get: operations["apiKeys.list"];
        put?: never;
        /**
         * Create an API key
         * @description A `runtime` key with `agentIds` is bound: it sees these agents and acts for these, and for no others.
         */
        post: operations["apiKeys.create"];
        delete?: never;
        patch?: never;
    };
    "/v1/keys/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["apiKeys.revoke"];
        patch?: never;
    };
    "/v1/keys/rotate": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Replace the API key that makes this call */
        post: operations["apiKeys.rotate"];
        delete?: never;
        patch?: never;
    };
    "/v1/manifests": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List manifests, by connector */
        get: operations["manifests.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/manifests/{connector}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a manifest */
        get: operations["manifests.get"];
        /** Register the manifest of a connector, or a new version of it */
        put: operations["manifests.put"];
        post?: never;
        /** Remove a manifest, so that calls of its tools are denied */
        delete: operations["manifests.remove"];
        patch?: never;
    };
    "/v1/manifests/{connector}/replay": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell which calls a draft of a manifest would have denied or allowed
         * @description Judges the recorded calls of at most 30 days once by the manifest as it is and once by the draft: with the whole scopes of their grants, and with caps that begin to count with the span. It has no effect and leaves no entry.
         */
        post: operations["manifests.replay"];
        delete?: never;
        patch?: never;
    };
    "/v1/manifests/{connector}/versions": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List what a manifest was after each change, the newest first
         * @description The last 51 are kept, of at most 4 MiB together. To go back, put the older one again. Those of the 20 connectors that were deleted last stay.
         */
        get: operations["manifests.versions"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the account of this API key */
        get: operations["developers.me"];
        put?: never;
        post?: never;
        delete?: never;
        /** Change settings of the account */
        patch: operations["developers.change"];
    };
    "/v1/me/branding": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read how the pages for people show the account */
        get: operations["developers.branding"];
        put?: never;
        post?: never;
        /** Show the account by its name alone */
        delete: operations["developers.removeBranding"];
        /** Set the logo and the colour with which the pages for people show the account */
        patch: operations["developers.changeBranding"];
    };
    "/v1/me/branding/preview": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * See how the pages for people would show the account
         * @description Changes nothing. What the body leaves out is shown as it is now.
         */
        post: operations["developers.previewBranding"];
        delete?: never;
        patch?: never;
    };
    "/v1/me/close": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Close the account for good, and erase its data after 30 days */
        post: operations["developers.close"];
        delete?: never;
        patch?: never;
    };
    "/v1/me/resume": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Lift the stop of the account */
        post: operations["developers.resume"];
        delete?: never;
        patch?: never;
    };
    "/v1/me/stop": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Stop every agent and grant of the account at once */
        post: operations["developers.stop"];
        delete?: never;
        patch?: never;
    };
    "/v1/members": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the members of the account, oldest first */
        get: operations["members.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/members/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a member at once, with their passkeys and sessions */
        delete: operations["members.remove"];
        /**
         * Give a member another role, or suspend them
         * @description Their sessions end. Suspending asks for no step-up.
         */
        patch: operations["members.change"];
    };
    "/v1/members/invitations": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List open invitations, newest first */
        get: operations["members.invitations"];
        put?: never;
        /**
         * Make a link by which a person becomes a member
         * @description It works once, for seven days. It is mailed where the service sends mail and the address of the account is verified, and the answer has it otherwise. One to the same address ends.
         */
        post: operations["members.invite"];
        delete?: never;
        patch?: never;
    };
    "/v1/members/invitations/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take an invitation back */
        delete: operations["members.revokeInvitation"];
        patch?: never;
    };
    "/v1/oauth/arrivals": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go on with a request whose person the developer's application has signed in
         * @description The consent page calls it with the hint of the application, which names the person.
         */
        post: operations["oauth.arrive"];
        delete?: never;
        patch?: never;
    };
    "/v1/oauth/sign-ins/brand": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Show whose request waits for a passkey */
        post: operations["oauth.signInBrand"];
        delete?: never;
        patch?: never;
    };
    "/v1/oauth/sign-ins/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a passkey of the person whom an authorization request is about
         * @description The options are the same for everybody: the person chooses the passkey.
         */
        post: operations["oauth.signInOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/oauth/sign-ins/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Go on with an authorization request whose person has shown a passkey */
        post: operations["oauth.signIn"];
        delete?: never;
        patch?: never;
    };
    "/v1/passport/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a passport */
        get: operations["passports.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/passport/{id}/revoke": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a passport, and those below it */
        post: operations["passports.revoke"];
        delete?: never;
        patch?: never;
    };
    "/v1/passport/issue": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Issue a passport about a grant */
        post: operations["passports.issue"];
        delete?: never;
        patch?: never;
    };
    "/v1/passports": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List passports, newest first
         * @description A hundred at most. The header `Link` with `rel="next"` names the rest.
         */
        get: operations["passports.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/passports/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Verify a passport */
        post: operations["passports.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List policies, in the order of evaluation */
        get: operations["policies.list"];
        put?: never;
        /**
         * Create a policy
         * @description It holds for every request that starts after the answer. `warnings` names what the author may not have meant: policies that never decide, and those that contradict each other, with an example.
         */
        post: operations["policies.create"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a policy */
        get: operations["policies.get"];
        put?: never;
        post?: never;
        /** Delete a policy */
        delete: operations["policies.delete"];
        /**
         * Change a policy
         * @description An absent field stays, and null clears a condition. The policy is checked as a whole.
         */
        patch: operations["policies.update"];
    };
    "/v1/policies/{id}/versions": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List what a policy was after each change, the newest first
         * @description The last 50 are kept, of at most 512 KiB together. To go back, change the policy to what it was. They are deleted with the policy, which the entry `policy.deleted` of the audit log holds as it was last.
         */
        get: operations["policies.versions"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/policies/bundles": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List policy bundles, newest first */
        get: operations["policyBundles.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/policies/bundles/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a policy bundle that is not active */
        delete: operations["policyBundles.delete"];
        patch?: never;
    };
    "/v1/policies/bundles/{id}/activate": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Roll back or forward to a policy bundle */
        post: operations["policyBundles.activate"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies/bundles/{id}/content": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get the content of a policy bundle */
        get: operations["policyBundles.content"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/policies/bundles/active": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get the active policy bundle of a format */
        get: operations["policyBundles.active"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/policies/evaluate": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell how policies would decide about a request
         * @description A dry run: it has no effect and leaves no entry.
         */
        post: operations["policies.evaluate"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies/replay": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what a draft of a policy would have changed
         * @description Decides about the recorded authorization requests of at most 30 days, at their own times, once by the policies as they are and once with the draft. It has no effect and leaves no entry.
         */
        post: operations["policies.replay"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies/sync": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store a policy bundle
         * @description A version that is there already with the same content is answered with 200. With `POLICY_BACKEND=cedar_bundles` a Cedar bundle is read first, and one with a fault is refused.
         */
        post: operations["policyBundles.sync"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies/sync/secret": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the secret of Git notifications
         * @description It is shown once, and replaces the former one.
         */
        post: operations["policyBundles.rotateSecret"];
        delete?: never;
        patch?: never;
    };
    "/v1/policies/sync/webhook": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a Git notification
         * @description The header `X-Hub-Signature-256` signs the body with the secret of the developer. The service announces the push, and fetches nothing.
         */
        post: operations["policyBundles.push"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal-addresses/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Forget the proved address of a principal, and end the sessions of the principal */
        delete: operations["principals.removeAddress"];
        patch?: never;
    };
    "/v1/principal-sessions": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open a session in which a principal sees and ends grants to agents */
        post: operations["principals.openSession"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal/address": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Tell whether a link to the page of the own permissions is mailed to an address of the principal */
        get: operations["principals.address"];
        put?: never;
        post?: never;
        /** Forget the principal's proved address, and end the other sessions */
        delete: operations["principals.removeOwnAddress"];
        patch?: never;
    };
    "/v1/principal/audit": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the audit entries about the principal, newest first */
        get: operations["principals.audit"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/principal/connections": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the principal's connected accounts, newest first */
        get: operations["connections.own"];
        put?: never;
        /** Make a link by which the principal connects an account, or connects it again */
        post: operations["connections.askAsPerson"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal/connections/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Disconnect an account, and revoke its tokens at the upstream */
        delete: operations["connections.disconnect"];
        patch?: never;
    };
    "/v1/principal/grants": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the principal's grants, newest first */
        get: operations["principals.grants"];
        put?: never;
        post?: never;
        /** Revoke all of the principal's active grants, all or none */
        delete: operations["principals.revokeAll"];
        patch?: never;
    };
    "/v1/principal/grants/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke one of the principal's grants, its tokens and all grants delegated from it */
        delete: operations["principals.revoke"];
        patch?: never;
    };
    "/v1/principal/grants/{id}/receipt": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get the receipt of one of the principal's grants: what was approved, done under it and ended, with its proofs */
        get: operations["principals.receipt"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/principal/passkeys": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the principal's passkeys, newest first */
        get: operations["webauthn.own"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/principal/passkeys/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove one of the principal's passkeys */
        delete: operations["webauthn.removeOwn"];
        patch?: never;
    };
    "/v1/principal/session": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End the session */
        delete: operations["principals.endSession"];
        patch?: never;
    };
    "/v1/principal/sign-in/link": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the page of the own permissions with a mailed link, once */
        post: operations["principals.useLink"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal/sign-in/mail": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Mail a link to the page of the own permissions, if somebody has proved the address */
        post: operations["principals.sendLink"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal/sign-in/passkey": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Ask for the passkey of a person who comes by themselves */
        post: operations["webauthn.signInOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal/sign-in/passkey/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Open the page of the own permissions with a passkey */
        post: operations["webauthn.signIn"];
        delete?: never;
        patch?: never;
    };
    "/v1/principal/stops": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List what keeps agents from getting a grant of the principal again, newest first */
        get: operations["assertions.ownStops"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/principal/stops/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Lift one of the principal's own stops
         * @description A stop that somebody else has made holds.
         */
        delete: operations["assertions.liftOwnStop"];
        patch?: never;
    };
    "/v1/principals": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Find the principals who hold something, by the beginning of their ids */
        get: operations["principals.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/principals/{principalId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read what the account has of a principal, and what an offboarding would end */
        get: operations["principals.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/principals/{principalId}/offboard": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** End all that agents hold of a person, under every id, and remove their credentials */
        post: operations["principals.offboard"];
        delete?: never;
        patch?: never;
    };
    "/v1/principals/{principalId}/offboarding": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get a signed statement that nothing of an offboarded person was left */
        get: operations["principals.offboarding"];
        put?: never;
        post?: never;
        /** Let agents ask an offboarded person again, under every id; nothing that ended comes back */
        delete: operations["principals.admit"];
        patch?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List failed requests of 72 hours, newest first
         * @description Requests with an API key of the account whose status was 400 or above. No body, header, query or path is kept.
         */
        get: operations["requests.list"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/requests/{requestId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a failed request by its request id */
        get: operations["requests.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/requests/groups": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Count failed requests of 72 hours by code and operation */
        get: operations["requests.groups"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/resources": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List registered servers, newest first */
        get: operations["resources.list"];
        put?: never;
        /**
         * Register a server that takes tokens
         * @description Its URI becomes the audience of tokens. The credential of the answer is shown once; with it the server introspects tokens.
         */
        post: operations["resources.add"];
        delete?: never;
        patch?: never;
    };
    "/v1/resources/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a registered server without its credential */
        get: operations["resources.get"];
        put?: never;
        post?: never;
        /** Remove a registered server */
        delete: operations["resources.remove"];
        /** Change a registered server */
        patch: operations["resources.change"];
    };
    "/v1/scim/tokens": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List SCIM tokens without their secrets, newest first */
        get: operations["scimTokens.list"];
        put?: never;
        /** Create a token for an identity provider, which provisions people with it */
        post: operations["scimTokens.create"];
        delete?: never;
        patch?: never;
    };
    "/v1/scim/tokens/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a SCIM token, which is refused from then on */
        delete: operations["scimTokens.delete"];
        patch?: never;
    };
    "/v1/search": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Find a record by its id, or by the beginning of a name or of a principal */
        get: operations["search.find"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/signup": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Create a developer account and its first API key */
        post: operations["developers.signUp"];
        delete?: never;
        patch?: never;
    };
    "/v1/signup/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Mail a link that verifies an address */
        post: operations["emails.sendLink"];
        delete?: never;
        patch?: never;
    };
    "/v1/signup/verify/{token}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Show a mailed link, as a page with one button unless JSON is asked for */
        get: operations["emails.showLink"];
        put?: never;
        /** Verify the address that a mailed link was sent to */
        post: operations["emails.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/ssf/receivers": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List receivers of signals, newest first */
        get: operations["ssfReceivers.list"];
        put?: never;
        /**
         * Register a system that listens to signals
         * @description The receiver is an OAuth client, which makes its streams itself (Shared Signals Framework 1.0). `events` is the most that its streams deliver. Only this answer shows the secrets.
         */
        post: operations["ssfReceivers.create"];
        delete?: never;
        patch?: never;
    };
    "/v1/ssf/receivers/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a receiver of signals */
        get: operations["ssfReceivers.get"];
        put?: never;
        post?: never;
        /** Delete a receiver of signals, with its streams */
        delete: operations["ssfReceivers.delete"];
        /** Change a receiver of signals */
        patch: operations["ssfReceivers.change"];
    };
    "/v1/ssf/receivers/{id}/deliveries": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the signals on their way to a receiver, newest first */
        get: operations["ssfReceivers.deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/ssf/receivers/{id}/rotate-secret": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a receiver of signals a new secret
         * @description The former secret holds until the end of the grace period, and so does every token that was issued before.
         */
        post: operations["ssfReceivers.rotateSecret"];
        delete?: never;
        patch?: never;
    };
    "/v1/ssf/receivers/{id}/streams": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the streams of a receiver */
        get: operations["ssfReceivers.streams"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/sso/config": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the single configuration */
        get: operations["sso.getConfig"];
        put?: never;
        /**
         * Write the single configuration that older clients know
         * @description It is the connection named `default`. New clients use connections.
         */
        post: operations["sso.putConfig"];
        /** Delete the single configuration */
        delete: operations["sso.deleteConfig"];
        patch?: never;
    };
    "/v1/sso/connections": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List connections, oldest first */
        get: operations["sso.listConnections"];
        put?: never;
        /** Add an identity provider at which people sign in */
        post: operations["sso.addConnection"];
        delete?: never;
        patch?: never;
    };
    "/v1/sso/connections/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a connection without its secrets */
        get: operations["sso.getConnection"];
        put?: never;
        post?: never;
        /** Delete a connection, and end its sessions */
        delete: operations["sso.deleteConnection"];
        /**
         * Change a connection
         * @description Members that the body leaves out stay, and `null` clears an optional one. Another provider, or another status than `active`, ends the sessions of the connection.
         */
        patch: operations["sso.changeConnection"];
    };
    "/v1/sso/connections/{id}/clients": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the clients for which the identity provider may speak, newest first */
        get: operations["assertions.listClients"];
        put?: never;
        /** List a client for which the identity provider may speak */
        post: operations["assertions.addClient"];
        delete?: never;
        patch?: never;
    };
    "/v1/sso/connections/{id}/clients/{clientRuleId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the rule of a client */
        get: operations["assertions.getClient"];
        put?: never;
        post?: never;
        /** End the rule of a client, with its grants */
        delete: operations["assertions.removeClient"];
        /**
         * Change the rule of a client
         * @description Grants that the rule no longer covers end at once.
         */
        patch: operations["assertions.changeClient"];
    };
    "/v1/sso/connections/{id}/id-jag": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read whether a connection's identity provider decides for its people */
        get: operations["assertions.get"];
        /**
         * Let a connection's identity provider decide for its people
         * @description From then on no person is asked: an assertion of the identity provider gives a listed client a token. The connection has to be active, of OpenID Connect, with a verified domain.
         */
        put: operations["assertions.put"];
        post?: never;
        /** Ask people again, and end every grant that the identity provider has given */
        delete: operations["assertions.delete"];
        patch?: never;
    };
    "/v1/sso/connections/{id}/identities": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the subjects by which the provider of a connection knows a person */
        get: operations["sso.listIdentities"];
        /**
         * Link a person to another subject of the provider
         * @description A sign-in never does this: a second subject with the address of a person who is linked is refused, and the audit entry `sso.login_failed` with the reason `other_subject` names it. The subject before, and whoever had this one, lose the link. Their sessions at the connection end.
         */
        put: operations["sso.moveIdentity"];
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/sso/connections/{id}/signals": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read how the service listens to the identity provider of a connection */
        get: operations["signals.get"];
        /**
         * Listen to the identity provider of a connection
         * @description The answer has `authorizationHeader` when the source is new, and never again. Delete the source to make another.
         */
        put: operations["signals.put"];
        post?: never;
        /** Stop listening to the identity provider of a connection */
        delete: operations["signals.delete"];
        patch?: never;
    };
    "/v1/sso/connections/{id}/test": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a connection
         * @description A failure is 200 too, with `success: false`. `error` is its category, and `message` says what to do.
         */
        post: operations["sso.testConnection"];
        delete?: never;
        patch?: never;
    };
    "/v1/sso/enforce": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Enforce single sign-on, or stop enforcing it */
        post: operations["sso.enforce"];
        delete?: never;
        patch?: never;
    };
    "/v1/sso/id-jag/stops": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List what keeps agents from getting a grant of a person again, newest first */
        get: operations["assertions.listStops"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/sso/id-jag/stops/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Let the identity provider give an agent grants of a person again
         * @description Every stop of the same agent and person is lifted.
         */
        delete: operations["assertions.liftStop"];
        patch?: never;
    };
    "/v1/sso/metadata": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the SAML metadata of an identity provider, and keep nothing
         * @description The answer has the members that a connection by SAML takes. A 400 says which part of the metadata is missing or cannot be used.
         */
        post: operations["sso.readMetadata"];
        delete?: never;
        patch?: never;
    };
    "/v1/sso/sessions": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List live sessions, newest first */
        get: operations["sso.listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/sso/sessions/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a session */
        delete: operations["sso.revokeSession"];
        patch?: never;
    };
    "/v1/sso/setup-links": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List setup links, newest first
         * @description A link is listed until 30 days after its end.
         */
        get: operations["setup.listLinks"];
        put?: never;
        /**
         * Make a link by which a customer’s administrator sets up single sign-on or provisioning
         * @description The link opens once and lasts `expiresIn` seconds, a week unless the body says otherwise. With `connectionId` it changes that connection; without, it makes one. The connection is on trial after each change until you activate it, which ends the session of the link. A SCIM token reads and writes the people of the whole account, so a link for `scim` needs `acknowledge`. An account has up to 100 links that have not ended.
         */
        post: operations["setup.createLink"];
        delete?: never;
        patch?: never;
    };
    "/v1/sso/setup-links/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a setup link, opened or not */
        delete: operations["setup.revokeLink"];
        patch?: never;
    };
    "/v1/status-lists/{listId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a Token Status List */
        get: operations["verifiableCredentials.tokenStatusList"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/stops/preview": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Count what ends with an agent, a principal, a grant or a stop of the account */
        get: operations["grants.previewStop"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/token": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Exchange an authorization code for a grant token */
        post: operations["tokens.exchange"];
        delete?: never;
        patch?: never;
    };
    "/v1/token/refresh": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a refresh token for new tokens */
        post: operations["tokens.refresh"];
        delete?: never;
        patch?: never;
    };
    "/v1/tokens/introspect": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Introspect a token (RFC 7662) */
        post: operations["tokens.introspect"];
        delete?: never;
        patch?: never;
    };
    "/v1/tokens/revoke": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Revoke one grant token, by its id or its text */
        post: operations["tokens.revoke"];
        delete?: never;
        patch?: never;
    };
    "/v1/tokens/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Ask whether a grant token is valid now */
        post: operations["tokens.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/transparency": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read the account's transparency log: its address, key and newest state */
        get: operations["transparency.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/transparency/consistency": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Prove that the log only grew between two sizes */
        get: operations["transparency.consistency"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/transparency/inclusion": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Prove that an entry stands in the log
         * @description Takes `entryId` or `seq`.
         */
        get: operations["transparency.inclusion"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Count the requests of today and of this month */
        get: operations["usage.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/usage/history": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the requests of each day, newest first */
        get: operations["usage.history"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/vault/connect-sessions": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link by which a person connects an account
         * @description The link opens a page on which the person proves to be the principal, and sees who connects what for whom. The key proves nothing there.
         */
        post: operations["connections.ask"];
        delete?: never;
        patch?: never;
    };
    "/v1/vault/connect-sessions/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a connect session */
        get: operations["connections.get"];
        put?: never;
        post?: never;
        /** Cancel a connect session from which nothing came back yet */
        delete: operations["connections.cancel"];
        patch?: never;
    };
    "/v1/vault/credentials": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List credentials without their secrets, newest first
         * @description Pages by `page` and `pageSize`, or by `cursor` and `limit`, but not both.
         */
        get: operations["vault.list"];
        put?: never;
        /**
         * Store an upstream credential of a principal, or replace it
         * @description A principal has one credential for each service. Storing again replaces every field, and keeps the id. No API key reads the secrets back.
         */
        post: operations["vault.store"];
        delete?: never;
        patch?: never;
    };
    "/v1/vault/credentials/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a credential without its secrets */
        get: operations["vault.get"];
        put?: never;
        post?: never;
        /** Delete a credential and the key of its secrets */
        delete: operations["vault.delete"];
        patch?: never;
    };
    "/v1/vault/credentials/connect": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link by which the grant token's principal connects an account
         * @description The token needs a scope that allows the exchange of this service, or `vault:<service>:proxy`.
         */
        post: operations["connections.askAsAgent"];
        delete?: never;
        patch?: never;
    };
    "/v1/vault/credentials/connect/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a connect session of the grant token's principal */
        get: operations["connections.getAsAgent"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/vault/credentials/exchange": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the principal's credential for a service with a grant token
         * @description The token needs one of the scopes `*`, `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*`, `vault:<service>:read` or `vault:credentials:exchange`. The rate is counted by token.
         */
        post: operations["vault.exchange"];
        delete?: never;
        patch?: never;
    };
    "/v1/vault/provider-presets": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the presets, which describe upstreams that many developers use */
        get: operations["providers.presets"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/vault/providers": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List providers, newest first */
        get: operations["providers.list"];
        put?: never;
        /**
         * Add an upstream at which people connect their accounts
         * @description The service reads what the upstream publishes about itself, in this call. Register `redirectUri` of the answer at the upstream.
         */
        post: operations["providers.add"];
        delete?: never;
        patch?: never;
    };
    "/v1/vault/providers/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a provider without its secrets */
        get: operations["providers.get"];
        put?: never;
        post?: never;
        /** Delete a provider through which no account is connected */
        delete: operations["providers.delete"];
        /**
         * Change a provider
         * @description Connections keep the endpoints and the client with which they were made. Another issuer, token endpoint or client drops the client secret: send its own in the same body.
         */
        patch: operations["providers.change"];
    };
    "/v1/vault/providers/{id}/discover": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Read again what the upstream publishes about itself */
        post: operations["providers.discover"];
        delete?: never;
        patch?: never;
    };
    "/v1/vault/proxy-profiles": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List proxy profiles, by service */
        get: operations["vault.listProxyProfiles"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/vault/proxy-profiles/{service}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a proxy profile */
        get: operations["vault.getProxyProfile"];
        /**
         * Say how agents reach the upstream of a service through the vault proxy
         * @description Replaces the profile, and counts its version. Credentials that are stored already go only to origins that the profile had when they were stored. The service of the path is that of credentials.
         */
        put: operations["vault.putProxyProfile"];
        post?: never;
        /** Switch the vault proxy of a service off */
        delete: operations["vault.deleteProxyProfile"];
        patch?: never;
    };
    "/v1/vault/proxy/{service}/{path}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * Call the upstream of a service with GET, through the vault
         * @description The agent sends its grant token in `Authorization`, and the service adds the credential of the principal. `path` is the path at the upstream, with slashes, and a query may follow. `Behest-Upstream` names another upstream of the profile than the first. `Behest-Proxy` is `upstream` on answers of the upstream, which pass with their status, and `refused` on all others.
         */
        get: operations["vault.proxyGet"];
        /**
         * Call the upstream of a service with PUT, through the vault
         * @description The agent sends its grant token in `Authorization`, and the service adds the credential of the principal. `path` is the path at the upstream, with slashes, and a query may follow. `Behest-Upstream` names another upstream of the profile than the first. `Behest-Proxy` is `upstream` on answers of the upstream, which pass with their status, and `refused` on all others.
         */
        put: operations["vault.proxyPut"];
        /**
         * Call the upstream of a service with POST, through the vault
         * @description The agent sends its grant token in `Authorization`, and the service adds the credential of the principal. `path` is the path at the upstream, with slashes, and a query may follow. `Behest-Upstream` names another upstream of the profile than the first. `Behest-Proxy` is `upstream` on answers of the upstream, which pass with their status, and `refused` on all others.
         */
        post: operations["vault.proxyPost"];
        /**
         * Call the upstream of a service with DELETE, through the vault
         * @description The agent sends its grant token in `Authorization`, and the service adds the credential of the principal. `path` is the path at the upstream, with slashes, and a query may follow. `Behest-Upstream` names another upstream of the profile than the first. `Behest-Proxy` is `upstream` on answers of the upstream, which pass with their status, and `refused` on all others.
         */
        delete: operations["vault.proxyDelete"];
        /**
         * Call the upstream of a service with PATCH, through the vault
         * @description The agent sends its grant token in `Authorization`, and the service adds the credential of the principal. `path` is the path at the upstream, with slashes, and a query may follow. `Behest-Upstream` names another upstream of the profile than the first. `Behest-Proxy` is `upstream` on answers of the upstream, which pass with their status, and `refused` on all others.
         */
        patch: operations["vault.proxyPatch"];
    };
    "/v1/vault/proxy/calls": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List calls through the vault proxy and what came of them, newest first
         * @description The service keeps them for thirty days. The audit log keeps that a call was made.
         */
        get: operations["vault.listProxyCalls"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/verifiers": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a verifier that confirms revocations
         * @description A verifier has a lease while it renews it. It may answer from memory only while it has one, and only about what it asked after its registration.
         */
        post: operations["verifiers.register"];
        delete?: never;
        patch?: never;
    };
    "/v1/verifiers/{id}/lease": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        /**
         * Renew a verifier's lease, and confirm a revocation
         * @description A verifier that owes a confirmation gets no lease. It forgets every answer, signs the position in `asked`, and renews again with it. Only the API key that registered a verifier may renew its lease.
         */
        put: operations["verifiers.renew"];
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/wallet/authorizations": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List authorizations, newest first */
        get: operations["walletAuthorizations.list"];
        put?: never;
        /** Issue an authorization for one payment */
        post: operations["walletAuthorizations.issue"];
        delete?: never;
        patch?: never;
    };
    "/v1/wallet/authorizations/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Get an authorization */
        get: operations["walletAuthorizations.get"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/wallet/authorizations/{id}/consume": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Use an authorization, once */
        post: operations["walletAuthorizations.consume"];
        delete?: never;
        patch?: never;
    };
    "/v1/wallet/authorizations/{id}/revoke": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Revoke an authorization */
        post: operations["walletAuthorizations.revoke"];
        delete?: never;
        patch?: never;
    };
    "/v1/wallet/authorizations/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Verify an authorization */
        post: operations["walletAuthorizations.verify"];
        delete?: never;
        patch?: never;
    };
    "/v1/webauthn/credentials": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List the passkeys of a principal, newest first */
        get: operations["webauthn.listCredentials"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/webauthn/credentials/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a passkey */
        delete: operations["webauthn.deleteCredential"];
        /** Rename a passkey, or clear the suspicion that there is a copy of it */
        patch: operations["webauthn.changeCredential"];
    };
    "/v1/webauthn/register/options": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Begin to register a passkey of a principal who is signed in */
        post: operations["webauthn.registerOptions"];
        delete?: never;
        patch?: never;
    };
    "/v1/webauthn/register/verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Store the passkey that the authenticator has made */
        post: operations["webauthn.registerVerify"];
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** List webhooks, newest first */
        get: operations["webhooks.list"];
        put?: never;
        /**
         * Register a webhook
         * @description `events` names event types, areas as `grant.*`, or `*`, which leaves out `budget.debited`. With `format` `ocsf`, each delivery is an event of OCSF 1.6.0, signed as sent. Only this answer shows the secret.
         */
        post: operations["webhooks.create"];
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a webhook */
        get: operations["webhooks.get"];
        put?: never;
        post?: never;
        /** Delete a webhook */
        delete: operations["webhooks.delete"];
        /** Change a webhook; disable or enable it */
        patch: operations["webhooks.change"];
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            path?: never;
        };
        /**
         * List deliveries of a webhook, newest first
         * @description Use `page` and `pageSize`, or `cursor` and `limit`, but not both.
         */
        get: operations["webhooks.deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            path?: never;
        };
        /** Read a delivery with its attempts and what is sent */
        get: operations["webhooks.delivery"];
        put?: never;
        post?: never;
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Deliver an event once more */
        post: operations["webhooks.redeliver"];
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks/{id}/recover": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver again what failed in a span of time
         * @description Puts the failed deliveries of the events of at most 30 days back into the queue, oldest first, at most 10,000. Receivers know each event by its `webhook-id`.
         */
        post: operations["webhooks.recover"];
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Give a webhook a new secret */
        post: operations["webhooks.rotateSecret"];
        delete?: never;
        patch?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            path?: never;
        };
        get?: never;
        put?: never;
        /** Send a test event to a webhook */
        post: operations["webhooks.test"];
        delete?: never;
        patch?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AccountStop: {
            stoppedAt: string | null;
            stopReason: string | null;
        };
        AddedMemberPasskey: {
            passkey: components["schemas"]["MemberPasskey"];
            /** @description With your first passkey. */
            recoveryCodes: string[] | null;
            /** @description The session from now on, where the passkey was what it needed to open the console. */
            session: components["schemas"]["ConsoleSession"] | null;
        };
        Agent: {
            agentId: string;
            clientId: string | null;
            /** Format: date-time */
            createdAt: string;
            description: string;
            developerId: string;
            did: string;
            id: string;
            name: string;
            /** @enum {unknown} */
            origin: "api" | "cimd" | "dcr";
            publicKeyJwk: {
                [key: string]: unknown;
            } | null;
            scopes: string[];
            /** @enum {unknown} */
            status: "active" | "suspended" | "revoked";
            /** Format: date-time */
            updatedAt: string;
        };
        AgentChange: {
            description?: string;
            name?: string;
            publicKeyJwk?: (components["schemas"]["PublicJwk"] | {
                /** @enum {unknown} */
                alg?: "EdDSA" | "Ed25519";
                /** @enum {string} */
                crv: "Ed25519";
                kid?: string;
                /** @enum {string} */
                kty: "OKP";
                /** @enum {string} */
                use?: "sig";
                x: string;
            }) | null;
            scopes?: string[];
            /** @enum {unknown} */
            status?: "active" | "suspended";
        };
        AgentPage: {
            agents: components["schemas"]["Agent"][];
            nextCursor: string | null;
        };
        Alert: {
            acknowledgedAt: string | null;
            agentId: string | null;
            alertId: string;
            context: {
                [key: string]: unknown;
            };
            description: string;
            /** Format: date-time */
            detectedAt: string;
            grantId: string | null;
            /** Format: date-time */
            lastSeenAt: string;
            note: string | null;
            occurrences: number;
            principalId: string | null;
            resolvedAt: string | null;
            ruleId: string;
            ruleName: string;
            /** @enum {unknown} */
            severity: "low" | "medium" | "high" | "critical";
            /** @enum {unknown} */
            status: "open" | "acknowledged" | "resolved";
        };
        AlertNote: {
            note?: string;
        };
        AlertPage: {
            data: components["schemas"]["Alert"][];
            nextCursor: string | null;
        };
        Anomaly: {
            acknowledgedAt: string | null;
            agentId: string | null;
            description: string;
            /** Format: date-time */
            detectedAt: string;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            principalId: string | null;
            /** @enum {unknown} */
            severity: "low" | "medium" | "high" | "critical";
            type: string;
        };
        AnomalyChannel: {
            config: {
                secret?: string;
                to?: string[];
                url?: string;
                webhookUrl?: string;
            };
            /** Format: date-time */
            createdAt: string;
            enabled: boolean;
            id: string;
            name: string;
            severities: ("low" | "medium" | "high" | "critical")[];
            /** @enum {unknown} */
            type: "webhook" | "slack" | "email";
            /** @description The addresses that get no message until their holders confirm. */
            unconfirmed?: string[];
        };
        AnomalyChannelChange: {
            config?: {
                secret?: string;
                to?: string[];
                url?: string;
                webhookUrl?: string;
            };
            enabled?: boolean;
            severities?: ("low" | "medium" | "high" | "critical")[];
        };
        AnomalyChannelList: {
            channels: components["schemas"]["AnomalyChannel"][];
        };
        AnomalyChannelTest: {
            messageId: string;
        };
        AnomalyDetection: {
            anomalies: components["schemas"]["Anomaly"][];
            autoRevokedGrants: number;
            /** Format: date-time */
            detectedAt: string;
            total: number;
        };
        AnomalyMetrics: {
            byRule: {
                [key: string]: number;
            };
            bySeverity: {
                critical: number;
                high: number;
                low: number;
                medium: number;
            };
            byStatus: {
                acknowledged: number;
                open: number;
                resolved: number;
            };
            total: number;
            window: string;
        };
        AnomalyPage: {
            anomalies: components["schemas"]["Anomaly"][];
            nextCursor: string | null;
            total: number;
        };
        AnomalyRule: {
            alertChannels?: string[];
            builtIn: boolean;
            condition?: {
                actions?: string[];
                agentIds?: string[];
                scopes?: string[];
                statuses?: ("success" | "failure" | "blocked")[];
                threshold: number;
                /** @enum {unknown} */
                timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
            };
            /** Format: date-time */
            createdAt?: string;
            description: string;
            enabled: boolean;
            id?: string;
            name: string;
            /** @enum {unknown} */
            response: "none" | "revoke_grants" | "suspend_agent";
            ruleId: string;
            /** @enum {unknown} */
            severity: "low" | "medium" | "high" | "critical";
        };
        AnomalyRuleChange: {
            alertChannels?: string[];
            condition?: {
                actions?: string[];
                agentIds?: string[];
                scopes?: string[];
                statuses?: ("success" | "failure" | "blocked")[];
                threshold: number;
                /** @enum {unknown} */
                timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
            };
            description?: string;
            enabled?: boolean;
            name?: string;
            /** @enum {unknown} */
            response?: "none" | "revoke_grants" | "suspend_agent";
            /** @enum {unknown} */
            severity?: "low" | "medium" | "high" | "critical";
        };
        AnomalyRuleList: {
            rules: components["schemas"]["AnomalyRule"][];
        };
        ApiKey: {
            agentIds: string[] | null;
            /** Format: date-time */
            createdAt: string;
            current?: boolean;
            expiresAt: string | null;
            id: string;
            keyId: string;
            lastUsedAt: string | null;
            name: string;
            prefix: string;
            /** @enum {unknown} */
            role: "full" | "runtime";
            /** @enum {unknown} */
            status: "active" | "expiring" | "expired" | "revoked";
        };
        ApiKeyPage: {
            keys: components["schemas"]["ApiKey"][];
            nextCursor: string | null;
        };
        ApproveDecisionRequest: {
            actionHash: string;
            assertion: components["schemas"]["Assertion"];
        };
        ApproveDecisionResult: {
            /** @enum {string} */
            decision: "approved";
            /** @enum {unknown} */
            status: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
        };
        Approver: {
            absence: {
                deputyApproverId: string | null;
                /** Format: date-time */
                from: string;
                /** Format: date-time */
                until: string;
            } | null;
            activeFrom: string | null;
            approverId: string;
            /**
             * @description `dual`: the address is verified and another approver confirmed the person. `sso`: the provider of the address’s verified domain vouches for the person.
             * @enum {unknown}
             */
            assurance: "single" | "dual" | "sso";
            confirmedBy: string | null;
            connectors: string[] | null;
            /** Format: date-time */
            createdAt: string;
            displayName: string;
            email: string;
            /** @description Whether the link to enrol went by mail and nowhere else. */
            emailVerified: boolean;
            enrolledBy: string;
            groups: string[];
            /** @enum {unknown} */
            kind: "person" | "principal";
            principalId: string | null;
            /** @description From then on a link of the operator replaces the passkeys of the person. */
            recoveryFrom: string | null;
            /** @enum {unknown} */
            status: "invited" | "pending_confirmation" | "active" | "suspended" | "removed";
            /** @description The `sub` of the decision grants of this person. */
            sub: string;
        };
        ApproverAbsence: {
            deputyApproverId?: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            until: string;
        };
        ApproverChange: {
            connectors?: string[] | null;
            groups?: string[];
            /** @enum {unknown} */
            status?: "active" | "suspended";
        };
        ApproverColleagues: {
            colleagues: {
                approverId: string;
                displayName: string;
                email: string;
                status: string;
            }[];
            /** @description The people who may stand in for the approver during an absence. */
            deputies: {
                approverId: string;
                displayName: string;
                email: string;
            }[];
            /** @description The people whose passkeys a link of the operator is about to replace. */
            recoveries: {
                approverId: string;
                displayName: string;
                email: string;
                /** Format: date-time */
                recoveryFrom: string;
            }[];
        };
        ApproverDecisionPage: {
            decisions: {
                agentName: string;
                caseId: string | null;
                connector: string;
                /** Format: date-time */
                createdAt: string;
                decisionId: string;
                /** Format: date-time */
                expiresAt: string;
                /** @enum {unknown} */
                status: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
                tool: string;
            }[];
            nextCursor: string | null;
        };
        ApproverInvitation: {
            absence: {
                deputyApproverId: string | null;
                /** Format: date-time */
                from: string;
                /** Format: date-time */
                until: string;
            } | null;
            activeFrom: string | null;
            approverId: string;
            /**
             * @description `dual`: the address is verified and another approver confirmed the person. `sso`: the provider of the address’s verified domain vouches for the person.
             * @enum {unknown}
             */
            assurance: "single" | "dual" | "sso";
            confirmedBy: string | null;
            connectors: string[] | null;
            /** Format: date-time */
            createdAt: string;
            displayName: string;
            email: string;
            /** @description Whether the link to enrol went by mail and nowhere else. */
            emailVerified: boolean;
            enrolledBy: string;
            /** Format: date-time */
            expiresAt: string;
            groups: string[];
            /** @enum {unknown} */
            kind: "person" | "principal";
            link: string | null;
            principalId: string | null;
            /** @description From then on a link of the operator replaces the passkeys of the person. */
            recoveryFrom: string | null;
            /** @enum {unknown} */
            status: "invited" | "pending_confirmation" | "active" | "suspended" | "removed";
            /** @description The `sub` of the decision grants of this person. */
            sub: string;
        };
        ApproverNotifications: {
            /** @description The `applicationServerKey` for a new subscription, in base64url. */
            publicKey: string;
            subscriptions: components["schemas"]["BrowserSubscription"][];
        };
        ApproverPage: {
            approvers: components["schemas"]["Approver"][];
            nextCursor: string | null;
        };
        ApproverPasskey: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            lastUsedAt: string | null;
            /**
             * @description `suspect`: there may be a copy, so it neither signs in nor decides.
             * @enum {unknown}
             */
            status: "active" | "suspect";
            transports: string[];
        };
        ApproverPasskeyList: {
            passkeys: components["schemas"]["ApproverPasskey"][];
        };
        ApproverRecovery: {
            approverId: string;
            /** Format: date-time */
            expiresAt: string;
            link: string | null;
            /** Format: date-time */
            opensAt: string;
        };
        ApproverRecoveryRequest: {
            approverId: string;
        };
        ApproverSession: {
            approver: components["schemas"]["Approver"];
            branding?: components["schemas"]["ShownBranding"];
            csrfToken: string;
            developerName: string;
            /** Format: date-time */
            expiresAt: string;
            /** Format: date-time */
            mayDecideUntil: string;
        };
        ApproverSignInOptions: {
            challengeId: string;
            publicKey: {
                [key: string]: unknown;
            };
        };
        ApproverSignInRequest: {
            challengeId: string;
            response: components["schemas"]["AssertionResponse"];
        };
        AskByAgent: {
            expiresIn?: string;
            scopes?: string[];
            service: string;
        };
        Assertion: {
            challengeId: string;
            response: components["schemas"]["AssertionResponse"];
        };
        AssertionOptions: {
            challengeId: string;
            nonce: string;
            publicKey: {
                [key: string]: unknown;
            };
        };
        AssertionResponse: {
            id: string;
            rawId: string;
            response: {
                authenticatorData: string;
                clientDataJSON: string;
                signature: string;
            } & {
                [key: string]: unknown;
            };
            /** @enum {string} */
            type: "public-key";
        } & {
            [key: string]: unknown;
        };
        AssertionStop: {
            agentId: string;
            agentName: string | null;
            /** @enum {unknown} */
            by: "developer" | "principal" | "anomaly" | "policy" | "admin";
            /** Format: date-time */
            createdAt: string;
            grantId: string;
            id: string;
            principalId: string;
            stopId: string;
        };
        AssertionStopPage: {
            nextCursor: string | null;
            stops: components["schemas"]["AssertionStop"][];
        };
        AuditChainHead: {
            checkpoint: string | null;
            hash: string | null;
            seq: number;
            timestamp: string | null;
        };
        AuditChainVerification: {
            checkedEntries: number;
            checkpoint: string | null;
            checkpointVerified: boolean | null;
            erasedEntries: number;
            firstBrokenAt: string | null;
            fromSeq: number;
            head: {
                hash: string | null;
                seq: number;
            };
            problem: string | null;
            toSeq: number;
            valid: boolean;
        };
        AuditEntry: {
            action: string;
            /** @description The address of that member, for members of the account. */
            actorEmail?: string;
            /** @description The present name of the member who acted, or `Removed member`. It is beside the entry, and not hashed. Exports and keys that are bound to agents have none. */
            actorName?: string;
            agentDid: string | null;
            agentId: string | null;
            developerId: string;
            entryId: string;
            /** @enum {boolean} */
            erased?: true;
            grantId: string | null;
            hash: string;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            prevHash: string | null;
            principalId: string | null;
            purpose: string | null;
            requestId: string | null;
            salt: string | null;
            seq: number;
            /** @enum {unknown} */
            source: "service" | "developer";
            /** @enum {unknown} */
            status: "success" | "failure" | "blocked";
            /** Format: date-time */
            timestamp: string;
        };
        AuditEntryPage: {
            entries: components["schemas"]["AuditEntry"][];
            nextCursor: string | null;
        };
        AuditExport: {
            entries: components["schemas"]["AuditEntry"][];
            /** Format: date-time */
            generatedAt: string;
            total: number;
        };
        AuthorizationCode: {
            authRequestId: string;
            code: string;
            /** Format: date-time */
            expiresAt: string;
        };
        AuthorizationInput: {
            agentId: string;
            audience?: string;
            authorization_details?: unknown[];
            authorizationDetails?: unknown[];
            autoApprove?: boolean;
            budget?: components["schemas"]["BudgetInput"];
            codeChallenge?: string;
            /** @enum {unknown} */
            codeChallengeMethod?: "S256";
            /** @default 1h */
            consentExpiresIn: string;
            /** @default 24h */
            expiresIn: string;
            principalId: string;
            purpose?: string;
            redirectUri?: string;
            replacesGrantId?: string;
            scopes: string[];
            state?: string;
            tokenExpiresIn?: string;
        };
        AuthorizationRequest: {
            agentId: string;
            audience?: string;
            authorizationDetails?: unknown[];
            authRequestId: string;
            budget?: {
                amount: string;
                currency: string;
            };
            /** @enum {unknown} */
            channel?: "device" | "ciba";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            decidedAt?: string;
            /** Format: date-time */
            expiresAt: string;
            expiresIn: string;
            id: string;
            principalId: string;
            purpose?: string;
            redirectUri?: string;
            replacesGrantId?: string;
            /** @enum {boolean} */
            sandbox?: true;
            scopes: string[];
            state?: string;
            status: components["schemas"]["AuthorizationRequestStatus"];
        };
        /** @enum {unknown} */
        AuthorizationRequestStatus: "pending" | "approved" | "denied" | "cancelled" | "consumed" | "expired";
        AuthorizationServerMetadata: {
            authorization_details_types_supported: string[];
            authorization_endpoint: string;
            authorization_grant_profiles_supported?: string[];
            authorization_response_iss_parameter_supported: boolean;
            backchannel_authentication_endpoint: string;
            backchannel_token_delivery_modes_supported: string[];
            client_id_metadata_document_supported: boolean;
            code_challenge_methods_supported: string[];
            device_authorization_endpoint: string;
            dpop_signing_alg_values_supported: string[];
            grant_types_supported: string[];
            introspection_endpoint: string;
            issuer: string;
            jwks_uri: string;
            pushed_authorization_request_endpoint: string;
            registration_endpoint?: string;
            require_pushed_authorization_requests: boolean;
            response_modes_supported: string[];
            response_types_supported: string[];
            revocation_endpoint: string;
            scopes_supported: string[];
            service_documentation?: string;
            token_endpoint: string;
            token_endpoint_auth_methods_supported: string[];
            token_endpoint_auth_signing_alg_values_supported: string[];
        };
        AuthzenMetadata: {
            access_evaluation_endpoint: string;
            access_evaluations_endpoint: string;
            policy_decision_point: string;
        };
        BackchannelAuthenticationRequest: {
            authorization_details?: string;
            binding_message?: string;
            client_assertion?: string;
            client_assertion_type?: string;
            client_id?: string;
            client_secret?: string;
            id_token_hint?: string;
            login_hint?: string;
            login_hint_token?: string;
            purpose?: string;
            request?: string;
            requested_expiry?: string;
            resource?: string[];
            scope?: string;
            user_code?: string;
        } & {
            [key: string]: unknown;
        };
        BackchannelAuthenticationResponse: {
            auth_req_id: string;
            expires_in: number;
            interval: number;
        };
        BillingEventReceipt: {
            /** @enum {boolean} */
            received: true;
        };
        Branding: {
            accentColor: string | null;
            logoUrl: string | null;
            name: string;
        };
        BrandingChange: {
            /** @description The colour of the button that a person presses, as `#rrggbb`. White text on it needs a contrast of 4.5 : 1. Null for that of the service. */
            accentColor?: string | null;
            /** @description A PNG in base64, of at most 256 KiB and 1024 pixels a side, not interlaced. The service re-encodes it with at most 128 pixels a side. Null removes it. */
            logo?: string | null;
        };
        BrandingPreview: {
            /** @description A document that is whole in itself, for the `srcdoc` of a frame with an empty `sandbox`. It runs no script and nothing can be decided on it. */
            html: string;
        };
        BrowserRedirect: {
            redirectTo: string;
        };
        BrowserSubscription: {
            /** Format: date-time */
            createdAt: string;
            /** @description The SHA-256 of the endpoint in base64url, by which a browser knows its own. */
            endpointSha256: string;
            id: string;
            /** @description The key that the browser was given. Messages go to it while the service has this key. */
            vapidKey: string;
        };
        Budget: {
            amount: string;
            currency: string;
            remaining: string;
        };
        BudgetAllocation: {
            agentId: string;
            /** Format: date-time */
            createdAt: string;
            currency: string;
            developerId: string;
            grantId: string;
            id: string;
            initialBudget: string;
            remainingBudget: string;
            spent: string;
            /** @enum {unknown} */
            status: "active" | "exhausted" | "closed";
            /** Format: date-time */
            updatedAt: string;
        };
        BudgetAllocationPage: {
            allocations: components["schemas"]["BudgetAllocation"][];
            nextCursor: string | null;
        };
        BudgetDebit: {
            allocationId: string;
            currency: string;
            grantId: string;
            remaining: string;
            transactionId: string;
        };
        BudgetDebitRequest: {
            amount: number | string;
            description?: string;
            grantId: string;
            metadata?: {
                [key: string]: unknown;
            };
        };
        BudgetInput: {
            amount: number | string;
            currency?: string;
        };
        BudgetLedgerCheck: {
            allocations: number;
            faults: {
                allocationId: string;
                fault: string;
            }[];
            valid: boolean;
        };
        BudgetRefund: {
            allocationId: string;
            amount: string;
            currency: string;
            grantId: string;
            refundOf: string;
            remaining: string;
            transactionId: string;
        };
        BudgetRefundRequest: {
            amount?: number | string;
            description?: string;
            metadata?: {
                [key: string]: unknown;
            };
            transactionId: string;
        };
        /** @enum {unknown} */
        BudgetRefusalReason: "insufficient" | "currency_mismatch";
        BudgetTransaction: {
            allocationId: string;
            amount: string;
            balanceAfter: string;
            /** Format: date-time */
            createdAt: string;
            description: string;
            grantId: string;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            refundOf: string | null;
            sourceGrantId: string | null;
            sourceTransactionId: string | null;
        };
        BudgetTransactionPage: {
            nextCursor: string | null;
            page: number;
            pageSize: number;
            total: number;
            transactions: components["schemas"]["BudgetTransaction"][];
        };
        BulkResponse: {
            Operations: {
                bulkId?: string;
                location?: string;
                method: string;
                response?: components["schemas"]["ScimResource"];
                status: string;
                version?: string;
            }[];
            schemas: string[];
        };
        Change: {
            /** @enum {unknown} */
            by: "agent" | "person" | "developer" | "operator";
            consent?: {
                agentId: string;
                principalId: string;
                purpose?: string;
                scopes: string[];
            };
            target: {
                id: string | null;
                /** @enum {unknown} */
                kind: "call" | "token" | "consent" | "decision" | "agent" | "grant" | "manifest" | "policy" | "service";
                place: string | null;
            };
            text: string;
        };
        ChangeApproval: {
            /** @description Of the change, as it was shown. */
            hash: string;
        };
        ChangePage: {
            changes: components["schemas"]["LooseningChange"][];
            nextCursor: string | null;
        };
        CheckoutRequest: {
            cancelUrl: string;
            /** @enum {unknown} */
            plan: "pro" | "enterprise";
            successUrl: string;
        };
        CheckoutSession: {
            checkoutUrl: string;
        };
        ClientDocument: {
            application_type?: string;
            client_id?: string;
            client_name: string;
            grant_types: string[];
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            redirect_uris: string[];
            response_types: string[];
            token_endpoint_auth_method: string;
        };
        ClientInformationResponse: {
            /** @enum {unknown} */
            application_type: "native" | "web";
            client_id: string;
            client_id_issued_at: number;
            client_name: string;
            client_secret?: string;
            client_secret_expires_at?: number;
            client_uri?: string;
            grant_types: string[];
            jwks?: unknown;
            jwks_uri?: string;
            logo_uri?: string;
            redirect_uris: string[];
            registration_access_token: string;
            registration_client_uri: string;
            response_types: string[];
            scope?: string;
            token_endpoint_auth_method: string;
        };
        ClientMetadata: {
            application_type?: unknown;
            client_id?: unknown;
            client_name?: unknown;
            client_secret?: unknown;
            client_uri?: unknown;
            grant_types?: unknown;
            jwks?: unknown;
            jwks_uri?: unknown;
            logo_uri?: unknown;
            redirect_uris?: unknown;
            response_types?: unknown;
            scope?: unknown;
            token_endpoint_auth_method?: unknown;
        } & {
            [key: string]: unknown;
        };
        CloseAccount: {
            confirm: string;
        };
        ClosedAccount: {
            /** Format: date-time */
            closedAt: string;
            /** Format: date-time */
            erasedAfter: string;
        };
        CodeExchange: {
            agentId: string;
            code: string;
            codeVerifier?: string;
            /**
             * @default jwt
             * @enum {unknown}
             */
            credentialFormat: "jwt" | "vc-jwt" | "sd-jwt" | "both";
            redirectUri?: string;
        };
        ComplianceControl: {
            evidence: {
                [key: string]: number;
            };
            /** @enum {unknown} */
            framework: "soc2" | "gdpr";
            id: string;
            title: string;
        };
        ComplianceSummary: {
            agents: {
                active: number;
                revoked: number;
                suspended: number;
                total: number;
            };
            auditEntries: {
                blocked: number;
                failure: number;
                success: number;
                total: number;
            };
            /** Format: date-time */
            generatedAt: string;
            grants: {
                active: number;
                expired: number;
                revoked: number;
                total: number;
            };
            plan: string;
            policies: {
                total: number;
            };
            since?: string;
            until?: string;
        };
        ConfirmApproverRequest: {
            confirmation: string;
        };
        ConnectCodeCheck: {
            code: string;
        };
        ConnectCodeSent: {
            /** Format: date-time */
            expiresAt: string;
        };
        ConnectConfirmation: {
            replaceAccount?: boolean;
        };
        ConnectHint: {
            hint: string;
        };
        Connection: {
            account: {
                id: string;
                label: string | null;
            } | null;
            /** Format: date-time */
            connectedAt: string;
            method: string;
            missingScopes: string[];
            providerId: string;
            reason: string | null;
            refreshTokenExpiresAt: string | null;
            scopesAsked: string[];
            scopesGranted: string[];
            /** @enum {unknown} */
            status: "connected" | "reauthorization_required";
        };
        ConnectorManifest: {
            connector: string;
            /** Format: date-time */
            createdAt: string;
            manifest: {
                [key: string]: unknown;
            };
            pins: {
                sha256: string;
                wider: string[];
            }[];
            sha256: string;
            /** Format: date-time */
            updatedAt: string;
            version: string;
        };
        ConnectPage: {
            agentName: string | null;
            authorizationHost: string;
            branding?: components["schemas"]["ShownBranding"];
            current: {
                accountLabel: string | null;
                scopes: string[];
            } | null;
            developerName: string;
            /** Format: date-time */
            expiresAt: string;
            principalId: string;
            providerName: string;
            result: {
                accountKnown: boolean;
                accountLabel: string | null;
                missing: string[];
                replaces: boolean;
                scopesGranted: string[];
            } | null;
            sandbox: boolean;
            scopes: {
                new: boolean;
                required: boolean;
                scope: string;
            }[];
            service: string;
        };
        ConnectPageState: {
            connect: components["schemas"]["ConnectPage"];
            csrfToken: string;
            id: string;
            loginUrl: string | null;
            reason: string | null;
            /** @enum {unknown} */
            status: "pending" | "started" | "returned" | "connected" | "denied" | "failed" | "cancelled" | "expired";
            verification: components["schemas"]["ConsentVerification"];
        };
        ConnectRedirect: {
            redirectTo: string;
        };
        ConnectSession: {
            agentId: string | null;
            connectSessionId: string;
            /** Format: date-time */
            createdAt: string;
            credentialId: string | null;
            decidedAt: string | null;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            principalId: string;
            providerId: string;
            reason: string | null;
            scopes: string[];
            service: string;
            /** @enum {unknown} */
            status: "pending" | "started" | "returned" | "connected" | "denied" | "failed" | "cancelled" | "expired";
        };
        ConnectStart: {
            scopes?: string[];
        };
        ConnectVerified: {
            verification: components["schemas"]["ConsentVerification"];
        };
        ConsentApproval: {
            arguments?: {
                [key: string]: {
                    [key: string]: {
                        [key: string]: unknown;
                    };
                };
            };
            expiresIn?: string;
            manifests?: {
                connector: string;
                sha256: string | null;
            }[];
            scopes?: string[];
            scopeWordsSha256?: string | null;
            tools?: {
                [key: string]: string[];
            };
        };
        ConsentApprovalResult: {
            code?: string;
            redirectTo?: string;
            redirectUri?: string;
            state?: string;
            /** @enum {string} */
            status: "approved";
        };
        ConsentDenial: {
            reason?: string;
        };
        ConsentDenialResult: {
            redirectTo?: string;
            redirectUri?: string;
            state?: string;
            /** @enum {string} */
            status: "denied";
        };
        ConsentLink: {
            authRequestId: string;
            consentUrl: string;
            /** Format: date-time */
            expiresAt: string;
        };
        ConsentPasskeyRequest: {
            decision?: components["schemas"]["ConsentApproval"];
        };
        ConsentRequest: {
            agentDescription: string;
            agentDid: string;
            agentId: string;
            agentName: string;
            argumentLimits: {
                connector: string;
                lines: {
                    path: string;
                    text: string;
                }[];
                open: boolean;
                tool: string;
            }[];
            audience?: string;
            authorizationDetails?: unknown[];
            branding?: components["schemas"]["ShownBranding"];
            budget?: {
                amount: string;
                currency: string;
            };
            /** @enum {unknown} */
            channel?: "device" | "ciba";
            client?: {
                host: string | null;
                isLocal: boolean;
                name: string | null;
                resourceNames: string[];
                /** @enum {unknown} */
                vouchedBy: "developer" | "host" | "nobody";
            };
            comparedText?: string;
            csrfToken: string;
            developerName: string;
            diff: {
                counts: {
                    changed: number;
                    narrower: number;
                    new: number;
                    removed: number;
                    same: number;
                    wider: number;
                };
                items: {
                    after: string | null;
                    before: string | null;
                    /** @enum {unknown} */
                    change: "new" | "wider" | "changed" | "narrower" | "removed" | "same";
                    connector?: string;
                    /** @enum {unknown} */
                    dimension: "scope" | "tools" | "caps" | "arguments" | "data_region" | "purpose" | "budget" | "lifetime" | "audience" | "redirectHost" | "agent" | "manifest" | "words";
                    key?: string;
                    text: string;
                }[];
                /** @enum {unknown} */
                verdict: "same" | "narrower" | "wider";
            } | null;
            /** Format: date-time */
            expiresAt: string;
            fidoRequired: boolean;
            grantExpiresIn: string;
            id: string;
            manifests: {
                connector: string;
                pinned: boolean;
                sha256: string | null;
                version: string | null;
            }[];
            previous: components["schemas"]["PreviousConsent"] | null;
            principalId: string;
            purpose?: string;
            purposeLabel?: string;
            redirectHost?: string;
            replacesGrantId: string | null;
            sandbox: boolean;
            scopeDescriptions: string[];
            scopeExplanations: (string | null)[];
            scopes: string[];
            scopeWordsSha256: string | null;
            /** @enum {string} */
            status: "pending";
            tools: components["schemas"]["ToolInWords"][];
            verification: components["schemas"]["ConsentVerification"];
        };
        ConsentSessionRequest: {
            hint?: string;
            ticket: string;
        };
        ConsentSessionResponse: {
            csrfToken: string;
            id: string;
            request: components["schemas"]["ConsentRequest"];
            verification: components["schemas"]["ConsentVerification"];
        };
        ConsentVerification: {
            methods: string[];
            /** @enum {unknown} */
            mode: "sandbox" | "link" | "developer" | "email" | "sso" | "passkey";
            /** @enum {boolean} */
            otherPerson?: true;
            satisfied: boolean;
            /** Format: date-time */
            satisfiedUntil?: string;
            /** @enum {boolean} */
            signInHere?: true;
        };
        ConsoleLink: {
            /** Format: date-time */
            expiresAt: string;
            /** @description Opens the console once. */
            url: string;
        };
        ConsoleSession: {
            /** @description What this session may do. Each operation names what it needs as `x-capability`. */
            capabilities: string[];
            /** @description Send it as `X-CSRF-Token` with every request other than GET. */
            csrfToken: string;
            developer: {
                branding?: components["schemas"]["ShownBranding"];
                developerId: string;
                /** @enum {unknown} */
                mode: "live" | "sandbox";
                name: string;
                plan: string;
            };
            /** Format: date-time */
            expiresAt: string;
            /** Format: date-time */
            idleExpiresAt: string;
            member: components["schemas"]["Member"];
            /** @enum {unknown} */
            openedBy: "key" | "link" | "passkey" | "invitation" | "recovery" | "code" | "sso";
            /** @description Whether the session can do nothing but register a passkey until its member has one. */
            passkeyRequired: boolean;
            sessionId: string;
            steppedUpUntil: string | null;
        };
        ConsumeDecisionRequest: {
            action: {
                arguments: {
                    [key: string]: unknown;
                };
                case_id: string | null;
                case_version: string | null;
                connector: string;
                decision: string | null;
                manifest?: string;
                tool: string;
                /**
                 * @description 2 for a tool whose manifest has `binds`.
                 * @enum {unknown}
                 */
                v: 1 | 2;
            };
            callId: string;
            caseVersion: string | null;
            decisionGrants: string[];
            grantToken: string;
            /**
             * @default send
             * @enum {unknown}
             */
            phase: "hold" | "send" | "spend" | "release";
        };
        ConsumeDecisionResult: {
            actionHash: string;
            approvers: {
                /** Format: date-time */
                at: string;
                jti: string;
                sub: string;
            }[];
            callId: string;
            /** @enum {boolean} */
            consumed: true;
            decisionId: string;
            jtis: string[];
            replayed: boolean;
            requestId: string;
            /** @enum {unknown} */
            state: "free" | "held" | "sent" | "spent";
        };
        CreatedApiKey: {
            agentIds: string[] | null;
            apiKey: string;
            /** Format: date-time */
            createdAt: string;
            expiresAt: string | null;
            id: string;
            keyId: string;
            lastUsedAt: string | null;
            name: string;
            prefix: string;
            /** @enum {unknown} */
            role: "full" | "runtime";
            /** @enum {unknown} */
            status: "active" | "expiring" | "expired" | "revoked";
        };
        CreatedAuthorizationRequest: {
            agentId: string;
            audience?: string;
            authorizationDetails?: unknown[];
            authRequestId: string;
            budget?: {
                amount: string;
                currency: string;
            };
            /** @enum {unknown} */
            channel?: "device" | "ciba";
            code?: string;
            consentUrl: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            decidedAt?: string;
            /** @enum {string} */
            effect?: "allow";
            /** Format: date-time */
            expiresAt: string;
            expiresIn: string;
            id: string;
            /** @enum {boolean} */
            policyEnforced?: true;
            policyId?: string;
            principalId: string;
            purpose?: string;
            redirectUri?: string;
            replacesGrantId?: string;
            /** @enum {boolean} */
            sandbox?: true;
            scopes: string[];
            state?: string;
            status: components["schemas"]["AuthorizationRequestStatus"];
        };
        CreatedConnectSession: {
            agentId: string | null;
            connectSessionId: string;
            connectUrl: string;
            /** Format: date-time */
            createdAt: string;
            credentialId: string | null;
            decidedAt: string | null;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            principalId: string;
            providerId: string;
            reason: string | null;
            scopes: string[];
            service: string;
            /** @enum {unknown} */
            status: "pending" | "started" | "returned" | "connected" | "denied" | "failed" | "cancelled" | "expired";
        };
        CreatedDeveloper: {
            apiKey: string;
            auditPrivateKeys: string[];
            auditRetentionDays: number | null;
            /** @enum {unknown} */
            capsMode: "enforce" | "warn";
            connectLoginUrl: string | null;
            consentKeys: {
                [key: string]: unknown;
            }[];
            /** @enum {unknown} */
            consentMode: "developer" | "email" | "sso" | "passkey";
            /** Format: date-time */
            createdAt: string;
            developerId: string;
            email: string | null;
            emailVerified: boolean;
            enforceAgentScopes: boolean;
            fidoRequired: boolean;
            fidoRpName: string | null;
            /** @enum {unknown} */
            fourEyesAssurance: "dual" | "sso";
            id: string;
            keyId: string;
            /** @enum {unknown} */
            manifestPinning: "off" | "warn" | "enforce";
            maxDelegationDepth: number | null;
            /** @enum {unknown} */
            mode: "live" | "sandbox";
            name: string;
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
            policyAutoApproval: boolean;
            reconsentAfterDays: number | null;
            reconsentOnAgentChange: boolean;
            redirectUris: string[];
            relaxFourEyes: boolean;
            requireTwoForLoosening: boolean;
            scopeDescriptions: {
                [key: string]: string;
            };
            stoppedAt: string | null;
            stopReason: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        CreatedDomain: {
            /** Format: date-time */
            createdAt: string;
            dnsRecord: {
                name: string;
                /** @enum {string} */
                type: "TXT";
                value: string;
            };
            domain: string;
            id: string;
            instructions: string;
            lastCheckedAt: string | null;
            /** @enum {unknown} */
            status: "pending" | "verified" | "lapsed";
            verificationToken?: string;
            verified: boolean;
            verifiedAt: string | null;
        };
        CreatedErasure: {
            erasureId: string;
            /** @enum {unknown} */
            status: "running" | "done";
        };
        CreatedPasskey: {
            aaguid: string | null;
            backedUp: boolean;
            /** Format: date-time */
            createdAt: string;
            deviceName: string | null;
            /** @enum {unknown} */
            deviceType: "singleDevice" | "multiDevice";
            id: string;
            principalId: string;
            transports: string[];
        };
        CreatedPrincipalSession: {
            dashboardUrl: string;
            /** Format: date-time */
            expiresAt: string;
            sessionToken: string;
        };
        CreatedReceiver: {
            accessToken?: string;
            /** Format: date-time */
            accessTokenExpiresAt?: string;
            audience: string;
            clientId: string;
            clientSecret: string;
            /** Format: date-time */
            createdAt: string;
            events: string[];
            id: string;
            name: string;
            previousSecretExpiresAt: string | null;
            receiverId: string;
            secretRotatedAt: string | null;
            staticToken: boolean;
            /** @enum {unknown} */
            subjectFormat: "iss_sub" | "email";
            /** @enum {unknown} */
            subjectShape: "complex" | "simple";
            /** Format: date-time */
            updatedAt: string;
        };
        CreatedResource: {
            connectors: string[];
            /** Format: date-time */
            createdAt: string;
            credential: string;
            dpopRequired: boolean;
            id: string;
            loginUrl: string | null;
            name: string;
            resource: string;
            scopes: string[];
            scopeWords: {
                [key: string]: components["schemas"]["ScopeWords"];
            };
            tokenTtlSeconds: number;
            /** Format: date-time */
            updatedAt: string;
        };
        CreatedScimToken: {
            /** Format: date-time */
            createdAt: string;
            expiresAt: string | null;
            id: string;
            label: string;
            lastUsedAt: string | null;
            token: string;
        };
        CreatedSetupLink: {
            connectionId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
            finishedAt: string | null;
            id: string;
            /** @description The customer, as their administrator reads it. */
            name: string;
            openedAt: string | null;
            purposes: ("sso" | "scim")[];
            /** @enum {unknown} */
            status: "open" | "opened" | "finished" | "expired";
            /** @description The link. Shown once. */
            url: string;
        };
        CreatedSsoSession: {
            developerId: string;
            email: string | null;
            /** Format: date-time */
            expiresAt: string;
            /** @description The groups that the provider named at the login, and the SCIM groups of the user that `groupMappings` names. */
            groups: string[];
            /** @description The scopes of these groups by `groupMappings` as they are now, else `defaultScopes`. */
            mappedScopes: string[];
            name: string | null;
            principalId: string | null;
            sessionId: string;
            sub: string | null;
        };
        CreatedSsoSignals: {
            audience: string;
            /** @description The `Authorization` of every signal. Shown once, where an administrator has to enter it at the transmitter. */
            authorizationHeader?: string;
            authType: ("bearer" | "client_credentials") | null;
            connectionId: string;
            /** Format: date-time */
            createdAt: string;
            /** @enum {unknown} */
            delivery: "push" | "poll";
            /** @description The address to which the identity provider pushes signals. */
            endpointUrl: string;
            lastError: string | null;
            lastPolledAt: string | null;
            lastSignalAt: string | null;
            /**
             * @description Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one.
             * @enum {unknown}
             */
            onSessionRevoked: "sessions" | "idp" | "all";
            requireHeader: boolean;
            silentSince: string | null;
            streamId: string | null;
            tenant: string | null;
            transmitter: string;
            /** Format: date-time */
            updatedAt: string;
            verifiedAt: string | null;
        };
        CreatedWebhook: {
            /** Format: date-time */
            createdAt: string;
            description: string;
            events: string[];
            /** @enum {unknown} */
            format: "envelope" | "ocsf";
            id: string;
            lastDeliveryAt: string | null;
            previousSecretExpiresAt: string | null;
            secret: string;
            secretRotatedAt: string | null;
            /** @enum {unknown} */
            status: "active" | "disabled";
            /** Format: date-time */
            updatedAt: string;
            url: string;
            webhookId: string;
        };
        CredentialContext: {
            "@context": {
                [key: string]: unknown;
            };
        };
        CredentialExchange: {
            service: string;
            upstreamScopes?: string[];
        };
        CredentialRevocation: {
            id: string;
            /** Format: date-time */
            revokedAt: string;
            /** @enum {string} */
            status: "revoked";
        };
        CredentialVerification: {
            /** @enum {unknown} */
            code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable";
            credentialType?: string;
            error?: string;
            expired?: boolean;
            /** Format: date-time */
            expiresAt?: string;
            issuer?: string;
            payload?: {
                [key: string]: unknown;
            };
            revoked?: boolean;
            subject?: string;
            valid: boolean;
            vcId?: string;
        };
        DecidingRule: {
            /** @description The conditions of the policy, each with the part of the call that met it. */
            conditions: {
                condition: string;
                field: string;
                met: string;
            }[];
            /** @description Of the grant, the agent or the policy, or the name of the connector. */
            id: string | null;
            /** @enum {unknown} */
            kind: "token" | "grant" | "agent" | "manifest" | "policy" | "decision" | "cap" | "service";
            /** @description Where in it, such as `tools.pay.arguments./amount.max`. */
            place: string | null;
            text: string;
        };
        Decision: {
            /** @description The hash that the approvers sign: of the whole call, or of what the manifest binds and the manifest. */
            actionHash: string;
            agentId: string;
            approvals: {
                /** @description The `sub` of the person. */
                approver: string;
                /** Format: date-time */
                at: string;
                onBehalfOf?: string;
                position: number;
                relaxed?: boolean;
            }[];
            arguments: {
                [key: string]: unknown;
            };
            caseId: string | null;
            caseVersion: string | null;
            connector: string;
            /** Format: date-time */
            createdAt: string;
            decision: string | null;
            decisionId: string;
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            principalId: string;
            quorum: number;
            /** @enum {unknown} */
            status: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
            tool: string;
            /** @description The page on which an approver decides. It gives no rights. */
            url: string;
        };
        DecisionCase: {
            caseId: string;
            caseVersion: string;
            grantIds: string[];
        };
        DecisionChannel: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            /** @enum {unknown} */
            kind: "slack" | "teams";
            name: string;
            /** @description Its origin and last four characters, because such a URL is a secret. */
            url: string;
        };
        DecisionChannelList: {
            channels: components["schemas"]["DecisionChannel"][];
        };
        DecisionForApprover: {
            /** @description The hash that the approvers sign: of the whole call, or of what the manifest binds and the manifest. */
            actionHash: string;
            agentId: string;
            agentName: string;
            approvals: {
                /** @description The `sub` of the person. */
                approver: string;
                /** Format: date-time */
                at: string;
                onBehalfOf?: string;
                position: number;
                relaxed?: boolean;
            }[];
            arguments: {
                [key: string]: unknown;
            };
            branding?: components["schemas"]["ShownBranding"];
            /** @description The canonical JSON whose hash is signed. */
            canonical: string;
            caseId: string | null;
            caseVersion: string | null;
            connector: string;
            /** Format: date-time */
            createdAt: string;
            decision: string | null;
            decisionId: string;
            developerName: string;
            /** Format: date-time */
            expiresAt: string;
            firstApprover: string | null;
            grantId: string;
            lastApproved: {
                arguments: {
                    [key: string]: unknown;
                };
                /** Format: date-time */
                createdAt: string;
                decisionId: string;
            } | null;
            mayDecide: boolean;
            /** @description All of `arguments`, in parts that the approval binds or that may be others when the call is made. */
            parts: {
                binds: boolean;
                path: string;
            }[];
            permission: string;
            previous: string | null;
            principalId: string;
            purpose: string | null;
            quorum: number;
            /** @enum {unknown} */
            status: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
            summary: string | null;
            tool: string;
            /** @description The page on which an approver decides. It gives no rights. */
            url: string;
            /** @description The tool and its arguments in the words of its manifest, which are those of the developer. */
            words: {
                arguments: {
                    path: string;
                    title: string;
                }[];
                description: string | null;
                language: string | null;
                title: string | null;
            };
        };
        DecisionGrantsRequest: {
            grantToken: string;
        };
        DecisionGrantsResult: {
            decisionGrants: string[];
        };
        DecisionPage: {
            decisions: components["schemas"]["Decision"][];
            nextCursor: string | null;
        };
        DelegatedTokens: {
            agentId: string;
            audience?: string;
            authorizationDetails?: unknown[];
            budget?: {
                amount?: string;
                currency: string;
                remaining: string;
            };
            delegationDepth: number;
            /** Format: date-time */
            expiresAt: string;
            /** Format: date-time */
            grantExpiresAt: string;
            grantId: string;
            grantToken: string;
            parentGrantId: string;
            principalId: string;
            purpose?: string;
            refreshExpiresAt: string | null;
            refreshToken: string | null;
            /** @enum {boolean} */
            sandbox?: true;
            scopes: string[];
            /** @enum {string} */
            tokenType: "Bearer";
            verifiableCredential?: string;
        };
        DelegationRequest: {
            audience?: string;
            authorizationDetails?: unknown[];
            budget?: components["schemas"]["BudgetInput"];
            /**
             * @default jwt
             * @enum {unknown}
             */
            credentialFormat: "jwt" | "vc-jwt" | "both";
            /** @default 1h */
            expiresIn: string;
            parentGrantToken: string;
            purpose?: string;
            scopes: string[];
            subAgentId: string;
            tokenExpiresIn?: string;
        };
        Denials: {
            /** Format: date-time */
            from: string;
            /** @description The most frequent first. */
            groups: {
                count: number;
                /** @description `<reason_code>`, or `<reason_code>/<sub_reason>`. */
                reason: string;
            }[];
            /** Format: date-time */
            to: string;
            /** @description Also the denials that were counted before their reasons were. */
            total: number;
        };
        DenyDecisionRequest: {
            reason?: string;
        };
        DenyDecisionResult: {
            /** @enum {string} */
            decision: "denied";
            /** @enum {unknown} */
            status: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
        };
        DeploymentStats: {
            byMode: {
                live: number;
                sandbox: number;
            };
            last7d: number;
            last24h: number;
            last30d: number;
            totalAgents: number;
            totalDevelopers: number;
            totalGrants: number;
        };
        Developer: {
            auditPrivateKeys: string[];
            auditRetentionDays: number | null;
            /** @enum {unknown} */
            capsMode: "enforce" | "warn";
            connectLoginUrl: string | null;
            consentKeys: {
                [key: string]: unknown;
            }[];
            /** @enum {unknown} */
            consentMode: "developer" | "email" | "sso" | "passkey";
            /** Format: date-time */
            createdAt: string;
            developerId: string;
            email: string | null;
            emailVerified: boolean;
            enforceAgentScopes: boolean;
            fidoRequired: boolean;
            fidoRpName: string | null;
            /** @enum {unknown} */
            fourEyesAssurance: "dual" | "sso";
            id: string;
            /** @enum {unknown} */
            manifestPinning: "off" | "warn" | "enforce";
            maxDelegationDepth: number | null;
            /** @enum {unknown} */
            mode: "live" | "sandbox";
            name: string;
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
            policyAutoApproval: boolean;
            reconsentAfterDays: number | null;
            reconsentOnAgentChange: boolean;
            redirectUris: string[];
            relaxFourEyes: boolean;
            requireTwoForLoosening: boolean;
            scopeDescriptions: {
                [key: string]: string;
            };
            stoppedAt: string | null;
            stopReason: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        DeveloperChange: {
            auditPrivateKeys?: string[];
            auditRetentionDays?: number | null;
            /** @enum {unknown} */
            capsMode?: "enforce" | "warn";
            connectLoginUrl?: string | null;
            consentKeys?: components["schemas"]["PublicJwk"][];
            /** @enum {unknown} */
            consentMode?: "developer" | "email" | "sso" | "passkey";
            enforceAgentScopes?: boolean;
            fidoRequired?: boolean;
            fidoRpName?: string | null;
            /** @enum {unknown} */
            fourEyesAssurance?: "dual" | "sso";
            /** @enum {unknown} */
            manifestPinning?: "off" | "warn" | "enforce";
            maxDelegationDepth?: number | null;
            name?: string;
            policyAutoApproval?: boolean;
            reconsentAfterDays?: number | null;
            reconsentOnAgentChange?: boolean;
            redirectUris?: string[];
            relaxFourEyes?: boolean;
            requireTwoForLoosening?: boolean;
            scopeDescriptions?: {
                [key: string]: string;
            };
        };
        DeveloperPage: {
            developers: {
                /** Format: date-time */
                createdAt: string;
                email: string | null;
                id: string;
                /** @enum {unknown} */
                mode: "live" | "sandbox";
                name: string;
            }[];
            nextCursor: string | null;
        };
        DeveloperPlan: {
            developerId: string;
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
        };
        DeveloperPlanChange: {
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
        };
        DeviceAuthorizationRequest: {
            authorization_details?: string;
            client_assertion?: string;
            client_assertion_type?: string;
            client_id?: string;
            client_secret?: string;
            login_hint?: string;
            principal_id?: string;
            purpose?: string;
            request?: string;
            resource?: string[];
            scope?: string;
        } & {
            [key: string]: unknown;
        };
        DeviceAuthorizationResponse: {
            device_code: string;
            expires_in: number;
            interval: number;
            user_code: string;
            verification_uri: string;
            verification_uri_complete: string;
        };
        DidDocument: {
            "@context": string[];
            assertionMethod: string[];
            authentication: string[];
            controller: string;
            id: string;
            service: {
                id: string;
                serviceEndpoint: string;
                type: string;
            }[];
            verificationMethod: {
                controller: string;
                id: string;
                publicKeyJwk: {
                    [key: string]: unknown;
                };
                /** @enum {string} */
                type: "JsonWebKey2020";
            }[];
        };
        DidResolution: {
            /** @description Null when the DID is deactivated. */
            didDocument: {
                [key: string]: unknown;
            } | null;
            didDocumentMetadata: {
                /** Format: date-time */
                created?: string;
                deactivated: boolean;
                /** @description The signing keys of the service, oldest first, when the database holds them. */
                keyHistory?: {
                    activatedAt: string | null;
                    /** @enum {unknown} */
                    alg: "RS256" | "ES256";
                    kid: string;
                    /** Format: date-time */
                    publishedAt: string;
                    retiredAt: string | null;
                }[];
                /** Format: date-time */
                updated?: string;
            };
            didResolutionMetadata: {
                /** @enum {string} */
                contentType: "application/did+json";
            };
        };
        Domain: {
            /** Format: date-time */
            createdAt: string;
            dnsRecord: {
                name: string;
                /** @enum {string} */
                type: "TXT";
                value: string;
            };
            domain: string;
            id: string;
            lastCheckedAt: string | null;
            /** @enum {unknown} */
            status: "pending" | "verified" | "lapsed";
            verificationToken?: string;
            verified: boolean;
            verifiedAt: string | null;
        };
        DomainPage: {
            domains: components["schemas"]["Domain"][];
            nextCursor: string | null;
        };
        EmailCodeCheck: {
            code: string;
        };
        EmailCodeResult: {
            verification: components["schemas"]["ConsentVerification"];
        };
        EmailVerificationLink: {
            email: string;
            message: string;
            /** @enum {unknown} */
            status: "pending" | "verified";
        };
        EndedConnections: {
            credentialId?: string;
            redirectTo?: string;
            /** @enum {unknown} */
            status: "connected" | "cancelled";
        };
        EnforceRequest: {
            amount?: unknown;
            arguments?: unknown;
            callId?: string;
            /** @enum {unknown} */
            capsMode?: "enforce" | "warn";
            caseId?: unknown;
            caseVersion?: string;
            connector: string;
            costComponents?: unknown;
            decisionGrants?: string[];
            grantToken: string;
            /** @default true */
            reserve: boolean;
            resource?: string;
            tool: string;
            toolPin?: string;
        };
        EnforceResult: {
            allowed: boolean;
            call_id: string;
            details: {
                [key: string]: unknown;
            };
            reason: string;
            reason_code: components["schemas"]["ReasonCode"] | null;
            sub_reason: components["schemas"]["SubReason"] | null;
            warnings: {
                code: string;
                detail: string;
            }[];
        } & {
            [key: string]: unknown;
        };
        EnrolmentOptions: {
            branding?: components["schemas"]["ShownBranding"];
            challengeId: string;
            connectors: string[] | null;
            developerName: string;
            displayName: string;
            email: string;
            groups: string[];
            publicKey: {
                [key: string]: unknown;
            };
            signInAt: string | null;
        };
        EnrolmentOptionsRequest: {
            invite: string;
        };
        EnrolmentRequest: {
            challengeId: string;
            invite: string;
            response: components["schemas"]["RegistrationResponse"];
        };
        Erasure: {
            brokenEntries: number;
            entries: number;
            erasureId: string;
            finishedAt: string | null;
            /** @enum {unknown} */
            status: "running" | "done";
        };
        Error: {
            code: components["schemas"]["ErrorCode"];
            details?: {
                [key: string]: unknown;
            };
            message: string;
            requestId: string;
        };
        /** @enum {unknown} */
        ErrorCode: "BAD_REQUEST" | "INVALID_SCOPE" | "INVALID_PURPOSE" | "INVALID_GRANT" | "DISCOVERY_FAILED" | "INVALID_REDIRECT_URI" | "DELEGATION_DEPTH_EXCEEDED" | "RESERVED_ACTION" | "TOKEN_EXPIRED" | "VERIFICATION_FAILED" | "SSO_DOMAIN_REQUIRED" | "CHALLENGE_INVALID" | "WEBAUTHN_VERIFICATION_FAILED" | "WEBAUTHN_CLONE_SUSPECTED" | "FIDO_NOT_ENROLLED" | "UNSUPPORTED_DID" | "INVALID_AGENT" | "SCOPE_INSUFFICIENT" | "AMOUNT_EXCEEDS_BUDGET" | "PARENT_EXCEEDED" | "INVALID_MANIFEST" | "UNAUTHORIZED" | "SSO_AUTH_FAILED" | "PLAN_LIMIT_EXCEEDED" | "INSUFFICIENT_BUDGET" | "FORBIDDEN" | "POLICY_DENIED" | "CONSENT_REQUIRED" | "PRINCIPAL_VERIFICATION_REQUIRED" | "FIDO_REQUIRED" | "SSO_REQUIRED" | "STEP_UP_REQUIRED" | "SIGNUP_DISABLED" | "SSO_DOMAIN_NOT_ALLOWED" | "SSO_USER_INACTIVE" | "SSO_NOT_PROVISIONED" | "SSO_SCOPE_DENIED" | "NOT_FOUND" | "PROXY_DENIED" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "EMAIL_TAKEN" | "GRANT_INACTIVE" | "AGENT_INACTIVE" | "PRINCIPAL_INACTIVE" | "REAUTHORIZATION_REQUIRED" | "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS" | "CURRENCY_MISMATCH" | "DOMAIN_CLAIMED" | "SSO_ACCOUNT_CONFLICT" | "ALREADY_CONSUMED" | "KEY_STORE_READ_ONLY" | "GONE" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "EXPORT_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "INVALID_EXPIRY" | "RATE_LIMITED" | "TOO_MANY_CONNECTIONS" | "INTERNAL_ERROR" | "NOT_SUPPORTED" | "UPSTREAM_ERROR" | "SSO_ERROR" | "SERVICE_UNAVAILABLE" | "NOT_CONFIGURED";
        EvaluationRequest: {
            action?: unknown;
            context?: unknown;
            resource?: unknown;
            subject?: unknown;
        } & {
            [key: string]: unknown;
        };
        EvaluationResponse: {
            context?: {
                [key: string]: unknown;
            };
            decision: boolean;
        };
        EvaluationsRequest: {
            action?: unknown;
            context?: unknown;
            evaluations?: unknown[];
            options?: {
                /** @enum {unknown} */
                evaluations_semantic?: "execute_all" | "deny_on_first_deny" | "permit_on_first_permit";
            } & {
                [key: string]: unknown;
            };
            resource?: unknown;
            subject?: unknown;
        } & {
            [key: string]: unknown;
        };
        EvaluationsResponse: {
            evaluations: components["schemas"]["EvaluationResponse"][];
        };
        EventPage: {
            events: {
                /** Format: date-time */
                createdAt: string;
                data: {
                    [key: string]: unknown;
                };
                developerId: string;
                id: string;
                sandbox?: boolean;
                specVersion: string;
                /** Format: date-time */
                timestamp: string;
                type: string;
            }[];
            nextCursor: string | null;
        };
        EvidencePack: {
            attestation: {
                alg: string;
                digest: string;
                kid: string;
                sections: {
                    auditEntries: string;
                    grants: string;
                    policies: string;
                };
                signature: string;
            };
            auditEntries: components["schemas"]["AuditEntry"][];
            chainIntegrity: components["schemas"]["AuditChainVerification"];
            controls: components["schemas"]["ComplianceControl"][];
            grants: components["schemas"]["ExportedGrant"][];
            meta: {
                /** @enum {unknown} */
                framework: "soc2" | "gdpr" | "all";
                /** Format: date-time */
                generatedAt: string;
                /** @enum {string} */
                schemaVersion: "1.0";
                since?: string;
                subject?: {
                    agentId?: string;
                    caseId?: string;
                    principalId?: string;
                };
                until?: string;
            };
            policies: components["schemas"]["PolicyRecord"][];
            summary: {
                agents: {
                    active: number;
                    revoked: number;
                    suspended: number;
                    total: number;
                };
                auditEntries: {
                    blocked: number;
                    failure: number;
                    success: number;
                    total: number;
                };
                grants: {
                    active: number;
                    expired: number;
                    revoked: number;
                    total: number;
                };
                plan: string;
                policies: {
                    total: number;
                };
                since?: string;
                until?: string;
            };
        };
        ExchangedCredential: {
            accessToken: string;
            credentialType: string;
            metadata: {
                [key: string]: unknown;
            };
            service: string;
            tokenExpiresAt: string | null;
        };
        ExchangedTokens: {
            agentId: string;
            audience?: string;
            authorizationDetails?: unknown[];
            budget?: {
                amount?: string;
                currency: string;
                remaining: string;
            };
            /** Format: date-time */
            expiresAt: string;
            /** Format: date-time */
            grantExpiresAt: string;
            grantId: string;
            grantToken: string;
            principalId: string;
            purpose?: string;
            /** Format: date-time */
            refreshExpiresAt: string;
            refreshToken: string;
            /** @enum {boolean} */
            sandbox?: true;
            scopes: string[];
            sdJwtCredential?: string;
            /** @enum {string} */
            tokenType: "Bearer";
            verifiableCredential?: string;
        };
        ExplainedCheck: {
            /** @enum {unknown} */
            check: "token" | "revocation" | "authorization_details" | "manifest" | "tool" | "listed_tools" | "scopes" | "permission" | "region" | "amount" | "purpose" | "arguments" | "policies" | "decision" | "caps";
            facts: components["schemas"]["Fact"][];
            /** @description Facts on which the denial rests and which the entry lacks. */
            notRecorded: string[];
            /**
             * @description `warned`: it found a fault that denies nothing. `unknown`: the entry does not say, because it was erased or has a reason of another release.
             * @enum {unknown}
             */
            outcome: "passed" | "warned" | "failed" | "not_reached" | "unknown";
        };
        Explanation: {
            allowed: boolean;
            /** Format: date-time */
            asOf: string;
            /** Format: date-time */
            at: string;
            call: {
                agentId: string | null;
                callId: string | null;
                caseId: string | null;
                /** @description The call only asked: nothing was reserved. */
                checkOnly: boolean;
                connector: string | null;
                grantId: string | null;
                principalId: string | null;
                requestId: string | null;
                resource: string | null;
                tool: string | null;
            };
            /** @description Each would by itself pass the check that failed. Later checks were not reached. */
            changes: components["schemas"]["Change"][];
            /** @description In the order in which they run. */
            checks: components["schemas"]["ExplainedCheck"][];
            denial: {
                check: ("token" | "revocation" | "authorization_details" | "manifest" | "tool" | "listed_tools" | "scopes" | "permission" | "region" | "amount" | "purpose" | "arguments" | "policies" | "decision" | "caps") | null;
                reason: string;
                reasonCode: string;
                subReason: string | null;
            } | null;
            entryId: string;
            request: {
                /** @description What the agent, or the grant above, may have now, where that decided. */
                allowedScopes: string[] | null;
                /** @description What was asked for: `authorize`, `consent`, `token`, `refresh`, `delegate` or `id_jag`. */
                operation: string | null;
                purpose: string | null;
                refusedScopes: string[];
                /** @description Those recorded: of a refusal of scopes, the refused ones. */
                scopes: string[];
            } | null;
            rule: components["schemas"]["DecidingRule"] | null;
        };
        ExportedGrant: {
            agentDid: string;
            agentId: string;
            consentMethod: string;
            delegationDepth: number;
            developerId: string;
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            id: string;
            /** Format: date-time */
            issuedAt: string;
            parentGrantId: string | null;
            principalId: string;
            purpose: string | null;
            revokedAt: string | null;
            revokedReason: string | null;
            scopes: string[];
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
        };
        Fact: {
            /**
             * @description `entry`: recorded with the answer. `now`: read at `asOf`, and maybe changed since the call.
             * @enum {unknown}
             */
            from: "entry" | "now";
            name: string;
            value: string | number | boolean | null | string[] | {
                [key: string]: unknown;
            };
        };
        FailedRequest: {
            /** @description The agent that the body or the path named, if any. */
            agentId: string | null;
            /** Format: date-time */
            at: string;
            code: string;
            durationMs: number;
            id: string;
            keyId: string | null;
            method: string;
            operationId: string;
            requestId: string;
            /** @description The pattern of the path, without ids and query. */
            route: string;
            status: number;
            subReason: string | null;
        };
        FailedRequestGroups: {
            /** @description The most frequent first, at most 200. */
            groups: {
                code: string;
                count: number;
                /** Format: date-time */
                lastAt: string;
                lastRequestId: string;
                operationId: string;
            }[];
            /** Format: date-time */
            since: string;
            /** @description Whether some requests of the 72 hours are only counted, because a flood has no row for each. */
            truncated: boolean;
        };
        FailedRequestPage: {
            nextCursor: string | null;
            requests: components["schemas"]["FailedRequest"][];
            /** @description Whether some requests of the 72 hours are only counted, because a flood has no row for each. */
            truncated: boolean;
        };
        Grant: {
            agentDid: string;
            agentId: string;
            /** @enum {unknown} */
            agentStatus: "active" | "suspended" | "revoked";
            audience?: string;
            authorizationDetails?: unknown[];
            authRequestId?: string;
            budget?: components["schemas"]["Budget"];
            consentMethod: string;
            delegationDepth: number;
            developerId: string;
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            id: string;
            /** Format: date-time */
            issuedAt: string;
            lastUsedAt: string | null;
            manifests?: {
                connector: string;
                sha256: string;
                version: string;
            }[];
            parentGrantId?: string;
            parentTokenId?: string;
            policyId?: string;
            principalId: string;
            purpose?: string;
            /** Format: date-time */
            revokedAt?: string;
            revokedReason?: string;
            rootGrantId: string;
            /** @enum {boolean} */
            sandbox?: true;
            scopes: string[];
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
            /** @enum {boolean} */
            unverified?: true;
        };
        GrantExport: {
            /** Format: date-time */
            generatedAt: string;
            grants: components["schemas"]["ExportedGrant"][];
            total: number;
        };
        GrantPage: {
            grants: components["schemas"]["Grant"][];
            nextCursor: string | null;
        };
        GrantVerification: {
            active: boolean;
            claims?: {
                [key: string]: unknown;
            };
            /** @enum {unknown} */
            reason?: "revoked" | "expired" | "not_found" | "agent_inactive";
        };
        Health: {
            failing?: ("db" | "redis")[];
            /** @enum {unknown} */
            status: "ok" | "degraded";
        };
        IdJagClientRule: {
            agentId: string;
            allowPublic: boolean;
            authorizationDetails: unknown[];
            clientId: string;
            clientRuleId: string;
            connectionId: string;
            /** Format: date-time */
            createdAt: string;
            defaultScopes: string[];
            grantTtl: string;
            id: string;
            maxAuthAgeSeconds: number | null;
            requireAmr: string[];
            resources: string[] | null;
            scopes: string[];
            /** @enum {unknown} */
            status: "active" | "paused";
            tokenTtlSeconds: number;
            /** Format: date-time */
            updatedAt: string;
        };
        IdJagClientRuleChange: {
            allowPublic?: boolean;
            authorizationDetails?: unknown[];
            defaultScopes?: string[];
            grantTtl?: string;
            maxAuthAgeSeconds?: number | null;
            requireAmr?: string[];
            resources?: string[] | null;
            scopes?: string[];
            /** @enum {unknown} */
            status?: "active" | "paused";
            tokenTtlSeconds?: number;
        };
        IdJagClientRulePage: {
            clients: components["schemas"]["IdJagClientRule"][];
            nextCursor: string | null;
        };
        IdJagTrust: {
            connectionId: string;
            /** Format: date-time */
            createdAt: string;
            enabled: boolean;
            maxAssertionSeconds: number;
            tenant: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        IntrospectionResponse: {
            active: boolean;
        } & {
            [key: string]: unknown;
        };
        IntrospectTokenRequest: {
            token: string;
            token_type_hint?: string;
        } & {
            [key: string]: unknown;
        };
        /** @enum {unknown} */
        InvalidGrantReason: "code_unknown" | "code_used" | "code_expired" | "not_approved" | "pkce_required" | "pkce_unexpected" | "pkce_mismatch" | "refresh_unknown" | "refresh_reused" | "refresh_expired" | "grant_unknown" | "grant_revoked" | "grant_expired" | "agent_inactive" | "reconsent_required" | "parent_invalid" | "parent_revoked" | "parent_expired";
        Invitation: {
            /** Format: date-time */
            createdAt: string;
            email: string;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            invitedBy: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "auditor";
        };
        InvitationList: {
            invitations: components["schemas"]["Invitation"][];
        };
        IssuedPassport: {
            credential: components["schemas"]["PassportCredential"];
            encodedCredential: string;
            /** Format: date-time */
            expiresAt: string;
            passportId: string;
            passportJwt: string;
        };
        IssuedTokens: {
            agentId: string;
            audience?: string;
            authorizationDetails?: unknown[];
            budget?: {
                amount?: string;
                currency: string;
                remaining: string;
            };
            /** Format: date-time */
            expiresAt: string;
            /** Format: date-time */
            grantExpiresAt: string;
            grantId: string;
            grantToken: string;
            principalId: string;
            purpose?: string;
            /** Format: date-time */
            refreshExpiresAt: string;
            refreshToken: string;
            /** @enum {boolean} */
            sandbox?: true;
            scopes: string[];
            /** @enum {string} */
            tokenType: "Bearer";
        };
        IssuedWalletAuthorization: {
            authorization: string;
            /** Format: date-time */
            expiresAt: string;
            id: string;
        };
        JoinedConsole: {
            /** @description What this session may do. Each operation names what it needs as `x-capability`. */
            capabilities: string[];
            /** @description Send it as `X-CSRF-Token` with every request other than GET. */
            csrfToken: string;
            developer: {
                branding?: components["schemas"]["ShownBranding"];
                developerId: string;
                /** @enum {unknown} */
                mode: "live" | "sandbox";
                name: string;
                plan: string;
            };
            /** Format: date-time */
            expiresAt: string;
            /** Format: date-time */
            idleExpiresAt: string;
            member: components["schemas"]["Member"];
            /** @enum {unknown} */
            openedBy: "key" | "link" | "passkey" | "invitation" | "recovery" | "code" | "sso";
            /** @description Whether the session can do nothing but register a passkey until its member has one. */
            passkeyRequired: boolean;
            /** @description Each signs you in once, to nothing but the registration of a passkey. No other answer shows them. */
            recoveryCodes: string[];
            sessionId: string;
            steppedUpUntil: string | null;
        };
        JoinOptions: {
            branding?: components["schemas"]["ShownBranding"];
            challengeId: string;
            developerName: string;
            email: string;
            publicKey: {
                [key: string]: unknown;
            };
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "auditor";
        };
        JoinOptionsRequest: {
            invite: string;
        };
        JoinRequest: {
            challengeId: string;
            displayName: string;
            invite: string;
            response: components["schemas"]["RegistrationResponse"];
        };
        JwkSet: {
            keys: components["schemas"]["PublishedJwk"][];
        };
        LdapLogin: {
            connectionId: string;
            org: string;
            password: string;
            username: string;
        } & {
            [key: string]: unknown;
        };
        LdapLoginForm: {
            password: string;
            state: string;
            username: string;
        };
        Lease: {
            asked: {
                hash: string;
                seq: number;
            } | null;
            /** @description How long the verifier may answer from memory, counted from before it sent this request. 0 while it owes a confirmation. */
            leaseSeconds: number;
        };
        LegacySsoConfig: {
            clientId: string;
            /** Format: date-time */
            createdAt: string;
            issuerUrl: string;
            redirectUri: string;
            /** Format: date-time */
            updatedAt: string;
        };
        LegacySsoConfigInput: {
            clientId: string;
            clientSecret: string;
            issuerUrl: string;
            redirectUri: string;
        };
        LegalHold: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string;
            principalId: string | null;
            reason: string | null;
            releasedAt: string | null;
        };
        LegalHoldPage: {
            holds: components["schemas"]["LegalHold"][];
            nextCursor: string | null;
        };
        ListToolsRequest: {
            connector: string;
            grantToken: string;
            /** @default false */
            resource: boolean;
            tools: {
                name: string;
                pin?: string;
            }[];
        };
        ListToolsResult: {
            hidden: {
                reasonCode: components["schemas"]["ReasonCode"];
                subReason: components["schemas"]["SubReason"] | null;
                tool: string;
            }[];
            tools: string[];
        };
        Liveness: {
            /** @enum {string} */
            status: "ok";
        };
        LogConsistency: {
            from: number;
            /** @description SHA-256, in base64 with padding */
            fromRoot: string;
            proof: string[];
            to: number;
            /** @description SHA-256, in base64 with padding */
            toRoot: string;
        };
        LogInclusion: {
            entryId: string;
            hash: string;
            /** @description SHA-256, in base64 with padding */
            leafHash: string;
            leafIndex: number;
            note: string | null;
            parts: string[];
            proof: string[];
            /** @description SHA-256, in base64 with padding */
            rootHash: string;
            seq: number;
            treeSize: number;
        };
        LogRestart: {
            newOrigin: string;
            oldOrigin: string;
            /** @description SHA-256, in base64 with padding */
            oldRoot: string;
            oldSize: number;
        };
        LooseningChange: {
            about: string;
            /** @description The members who agreed. */
            approvedBy: string[];
            /** @description The request. Null once it is decided. */
            body: {
                [key: string]: unknown;
            } | null;
            changeId: string;
            /** Format: date-time */
            createdAt: string;
            decidedAt: string | null;
            /** @description What would be other than it is, or was. */
            difference: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            expiresAt: string;
            /** @description SHA-256 over the request. Who agrees repeats it. */
            hash: string;
            id: string;
            /** @description How many members have to agree: two where an API key asked. */
            needed: number;
            /** @description The operation that was asked for. */
            operation: string;
            params: {
                [key: string]: unknown;
            } | null;
            /** @description The actor who asked for it. */
            proposedBy: string;
            /** @enum {unknown} */
            status: "open" | "applied" | "withdrawn" | "expired";
        };
        MadeInvitation: {
            /** Format: date-time */
            createdAt: string;
            email: string;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            invitedBy: string;
            /** @description Hand it to the person. No other answer shows it. Null where it was mailed. */
            link: string | null;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "auditor";
        };
        ManagedKey: {
            activatedAt: string | null;
            /** @enum {unknown} */
            alg: "RS256" | "ES256";
            /** @description Whether it signs new tokens now. */
            isSigning: boolean;
            kid: string;
            publishedAt: string | null;
            removedAt: string | null;
            retiredAt: string | null;
            /** @description The end of the activation delay. A key signs only after it. */
            signsFrom: string | null;
            /** @enum {unknown} */
            state: "pending" | "active" | "retired" | "removed";
        };
        ManagedKeys: {
            keys: components["schemas"]["ManagedKey"][];
            /** @enum {unknown} */
            store: "env" | "postgres";
        };
        ManifestPage: {
            manifests: {
                connector: string;
                sha256: string;
                /** Format: date-time */
                updatedAt: string;
                version: string;
            }[];
            nextCursor: string | null;
        };
        ManifestReplay: {
            /** @description Those with the most changes first, at most 100. */
            agents: {
                agentId: string;
                newlyAllowed: number;
                newlyDenied: number;
                /** @description Those for which a person has to decide. */
                newlyWaiting: number;
            }[];
            /** @description The first 500. Null means allowed. */
            changes: {
                after: {
                    reasonCode: components["schemas"]["ReasonCode"];
                    subReason: components["schemas"]["SubReason"] | null;
                } | null;
                agentId: string | null;
                /** Format: date-time */
                at: string;
                before: {
                    reasonCode: components["schemas"]["ReasonCode"];
                    subReason: components["schemas"]["SubReason"] | null;
                } | null;
                entryId: string;
                principalId: string | null;
                tool: string;
            }[];
            /** @description False when there are more entries than are read. */
            complete: boolean;
            evaluated: number;
            /** @description Calls that an entry does not say enough about: with a decision, under rules for arguments, of tools with pinned definitions or cost units, and without a grant that is still known. */
            notEvaluated: {
                arguments: number;
                decisions: number;
                grants: number;
                inputs: number;
            };
            /** @description Those with the most changes first, at most 100. */
            principals: {
                newlyAllowed: number;
                newlyDenied: number;
                /** @description Those for which a person has to decide. */
                newlyWaiting: number;
                principalId: string;
            }[];
            totals: components["schemas"]["ReplayTotals"];
            unchanged: number;
        };
        ManifestReplayRequest: {
            candidate: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
        };
        ManifestVersion: {
            actor: string | null;
            /** Format: date-time */
            createdAt: string;
            manifest: {
                [key: string]: unknown;
            };
            revision: number;
            sha256: string;
            version: string;
        };
        ManifestVersionPage: {
            nextCursor: string | null;
            versions: components["schemas"]["ManifestVersion"][];
        };
        ManifestWithWarnings: {
            connector: string;
            /** Format: date-time */
            createdAt: string;
            manifest: {
                [key: string]: unknown;
            };
            pins: {
                sha256: string;
                wider: string[];
            }[];
            sha256: string;
            /** Format: date-time */
            updatedAt: string;
            version: string;
            warnings: {
                /** @enum {string} */
                code: "similar_connector";
                connector: string;
            }[];
        };
        MatchedCondition: {
            condition: string;
            /** @enum {unknown} */
            field: "agentId" | "principalId" | "scopes" | "timeOfDay" | "daysOfWeek" | "purposes" | "networks" | "delegationDepth" | "connector" | "tools" | "arguments";
            met: string;
        };
        Member: {
            /** Format: date-time */
            createdAt: string;
            displayName: string;
            email: string | null;
            id: string;
            /** @description How the person signs in: `passkey`, or `sso:<connectionId>`, where the groups at that provider decide on the role at each sign-in. */
            identity: string;
            invitedBy: string | null;
            lastSeenAt: string | null;
            memberId: string;
            /** @description Until then no other member can change or remove the person, or end their sessions: the operator of the service let them in. */
            protectedUntil: string | null;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "auditor";
            /** @enum {unknown} */
            status: "active" | "suspended";
        };
        MemberChange: {
            /** @enum {unknown} */
            role?: "owner" | "admin" | "operator" | "auditor";
            /** @enum {unknown} */
            status?: "active" | "suspended";
        };
        MemberList: {
            members: components["schemas"]["Member"][];
        };
        MemberPasskey: {
            /** Format: date-time */
            createdAt: string;
            deviceName: string | null;
            id: string;
            lastUsedAt: string | null;
            /**
             * @description `suspect`: there may be a copy, so it opens nothing.
             * @enum {unknown}
             */
            status: "active" | "suspect";
            transports: string[];
        };
        MemberPasskeyList: {
            passkeys: components["schemas"]["MemberPasskey"][];
            /** @description How many of your recovery codes still work. */
            recoveryCodesLeft: number;
        };
        NewAgent: {
            /** @default  */
            description: string;
            name: string;
            publicKeyJwk?: components["schemas"]["PublicJwk"] | {
                /** @enum {unknown} */
                alg?: "EdDSA" | "Ed25519";
                /** @enum {string} */
                crv: "Ed25519";
                kid?: string;
                /** @enum {string} */
                kty: "OKP";
                /** @enum {string} */
                use?: "sig";
                x: string;
            };
            /** @default [] */
            scopes: string[];
        };
        NewAnomalyChannel: {
            config: {
                secret?: string;
                to?: string[];
                url?: string;
                webhookUrl?: string;
            };
            name: string;
            severities?: ("low" | "medium" | "high" | "critical")[];
            /** @enum {unknown} */
            type: "webhook" | "slack" | "email";
        };
        NewAnomalyRule: {
            alertChannels?: string[];
            condition: {
                actions?: string[];
                agentIds?: string[];
                scopes?: string[];
                statuses?: ("success" | "failure" | "blocked")[];
                threshold: number;
                /** @enum {unknown} */
                timeWindow: "5m" | "15m" | "1h" | "6h" | "24h";
            };
            /** @default  */
            description: string;
            name: string;
            /**
             * @default none
             * @enum {unknown}
             */
            response: "none" | "revoke_grants" | "suspend_agent";
            ruleId: string;
            /**
             * @default medium
             * @enum {unknown}
             */
            severity: "low" | "medium" | "high" | "critical";
        };
        NewApiKey: {
            agentIds?: string[] | null;
            expiresIn?: string;
            name: string;
            /**
             * @default full
             * @enum {unknown}
             */
            role: "full" | "runtime";
        };
        NewApprover: {
            connectors?: string[] | null;
            displayName?: string;
            email?: string;
            groups?: string[];
            principalId?: string;
        };
        NewApproverPasskey: {
            challengeId: string;
            response: components["schemas"]["RegistrationResponse"];
        };
        NewAuditEntry: {
            action: string;
            agentDid: string;
            agentId: string;
            grantId: string;
            /** @default {} */
            metadata: {
                [key: string]: unknown;
            };
            principalId: string;
            /**
             * @default success
             * @enum {unknown}
             */
            status: "success" | "failure" | "blocked";
        };
        /** @description The subscription as the browser writes it: `PushSubscription.toJSON()`. */
        NewBrowserSubscription: {
            endpoint: string;
            /** @description As the browser states it. It has no effect. */
            expirationTime?: number | null;
            keys: {
                auth: string;
                p256dh: string;
            };
        };
        NewBudgetAllocation: {
            /** @default USD */
            currency: string;
            grantId: string;
            initialBudget: number | string;
        };
        NewConnectSession: {
            agentId?: string;
            expiresIn?: string;
            principalId: string;
            returnUrl?: string;
            scopes?: string[];
            service: string;
            state?: string;
        };
        NewConsoleLink: {
            displayName?: string;
            email?: string;
        };
        NewDecision: {
            amount?: number;
            approvers?: string[];
            arguments: {
                [key: string]: unknown;
            };
            /** @description The same for each attempt of one logical call. Until its request expires, the call gets that request again, whatever became of it. */
            callId?: string;
            caseId?: string;
            caseVersion?: string;
            connector: string;
            /** @default 4h */
            expiresIn: string;
            grantToken: string;
            resource?: string;
            summary?: string;
            tool: string;
        };
        NewDecisionCase: {
            caseVersion: string;
            /** @description The grants whose requests through the vault proxy may name the case in `Behest-Case`. Without this member the case keeps its grants. */
            grantIds?: string[];
        };
        NewDecisionChannel: {
            /** @enum {unknown} */
            kind: "slack" | "teams";
            name: string;
            url: string;
        };
        NewDomain: {
            domain: string;
        };
        NewErasure: {
            principalId: string;
            reason?: string;
        };
        NewIdJagClientRule: {
            /** @default false */
            allowPublic: boolean;
            /** @default [] */
            authorizationDetails: unknown[];
            clientId: string;
            /** @default [] */
            defaultScopes: string[];
            /** @default 30d */
            grantTtl: string;
            maxAuthAgeSeconds?: number | null;
            /** @default [] */
            requireAmr: string[];
            /** @default null */
            resources: string[] | null;
            scopes: string[];
            /**
             * @default active
             * @enum {unknown}
             */
            status: "active" | "paused";
            /** @default 3600 */
            tokenTtlSeconds: number;
        };
        NewIdJagTrust: {
            /** @enum {string} */
            acknowledge?: "no personal consent";
            enabled: boolean;
            /** @default 900 */
            maxAssertionSeconds: number;
            /** @default null */
            tenant: string | null;
        };
        NewInvitation: {
            email: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "auditor";
        };
        NewKeyRotation: {
            /** @enum {unknown} */
            alg?: "RS256" | "ES256";
        };
        NewLegalHold: {
            name: string;
            principalId?: string;
            reason?: string;
        };
        NewMemberPasskey: {
            challengeId: string;
            deviceName?: string;
            response: components["schemas"]["RegistrationResponse"];
        };
        NewPassport: {
            agentId: string;
            allowedMPPCategories: ("inference" | "compute" | "data" | "storage" | "search" | "media" | "delivery" | "browser" | "general")[];
            expiresIn?: string;
            grantId: string;
            maxTransactionAmount: {
                amount: number | string;
                currency: string;
            };
            parentPassportId?: string;
            /**
             * @default [
             *       "tempo"
             *     ]
             */
            paymentRails: "tempo"[];
        };
        NewPolicy: {
            agentId?: string | null;
            arguments?: {
                [key: string]: unknown;
            } | null;
            connector?: string | null;
            daysOfWeek?: ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | null;
            delegationDepthMax?: number | null;
            delegationDepthMin?: number | null;
            /** @enum {unknown} */
            effect: "deny" | "require_approval" | "allow";
            name: string;
            networks?: string[] | null;
            principalId?: string | null;
            priority?: number;
            purposes?: string[] | null;
            scopes?: string[] | null;
            timeOfDayEnd?: string | null;
            timeOfDayStart?: string | null;
            timeZone?: string | null;
            tools?: string[] | null;
        };
        NewPolicyBundle: {
            /** @default true */
            activate: boolean;
            content: string;
            /** @default 1 */
            fileCount: number;
            /** @enum {unknown} */
            format: "rego" | "cedar";
            sha256?: string;
            version: string;
        };
        NewPrincipalSession: {
            expiresIn?: string;
            principalId: string;
        };
        NewProvider: {
            acceptPartial?: boolean;
            account?: {
                id: string;
                label?: string;
                /** @enum {unknown} */
                source: "id_token" | "userinfo" | "token";
            } | null;
            /** @enum {unknown} */
            authMethod?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";
            authorizationEndpoint?: string | null;
            authorizeParams?: {
                [key: string]: string;
            };
            clientId?: string | null;
            clientSecret?: string;
            issuer?: string | null;
            /** @enum {unknown} */
            kind?: "oidc" | "oauth2" | "mcp";
            mcpUrl?: string | null;
            name?: string;
            /** @enum {unknown} */
            pkce?: "required" | "unsupported";
            preset?: string | null;
            revocationEndpoint?: string | null;
            scopes?: {
                optional?: string[];
                required?: string[];
            };
            /** @enum {unknown} */
            scopeSeparator?: " " | ",";
            service: string;
            tokenEndpoint?: string | null;
            tokenLifetimeSeconds?: number | null;
            tokenPointers?: {
                accessToken?: string;
                expiresIn?: string;
                refreshToken?: string;
                scope?: string;
            };
            userinfoEndpoint?: string | null;
        };
        NewProxyProfile: {
            /**
             * @default allowed
             * @enum {unknown}
             */
            exchange: "allowed" | "proxy_only";
            forwardHeaders?: string[];
            headers?: {
                [key: string]: string;
            };
            inject: components["schemas"]["ProxyInjection"];
            maxRequestBytes?: number;
            maxResponseBytes?: number;
            perMinute?: number;
            returnHeaders?: string[];
            rules: components["schemas"]["ProxyRule"][];
            timeoutSeconds?: number;
            upstreams: {
                [key: string]: string;
            };
        };
        NewReceiver: {
            audience?: string;
            events?: string[];
            name: string;
            /** @default false */
            staticToken: boolean;
            /**
             * @default iss_sub
             * @enum {unknown}
             */
            subjectFormat: "iss_sub" | "email";
            /**
             * @default complex
             * @enum {unknown}
             */
            subjectShape: "complex" | "simple";
        };
        NewResource: {
            /** @default null */
            connectors: string[] | null;
            /** @default false */
            dpopRequired: boolean;
            loginUrl?: string | null;
            name: string;
            resource: string;
            /** @default [] */
            scopes: string[];
            scopeWords?: {
                [key: string]: components["schemas"]["ScopeWords"];
            };
            /** @default 3600 */
            tokenTtlSeconds: number;
        };
        NewScimToken: {
            /** Format: date-time */
            expiresAt?: string;
            label: string;
        };
        NewSetupLink: {
            /**
             * @description Required with the purpose `scim`: the token of the link reads and writes the people of the whole account.
             * @enum {string}
             */
            acknowledge?: "all people of the account";
            connectionId?: string;
            expiresIn?: number;
            name: string;
            purposes: ("sso" | "scim")[];
        };
        NewSetupProvider: {
            clientId?: string;
            clientSecret?: string;
            issuerUrl?: string;
            /** @description At most `SSO_METADATA_LIMIT_BYTES`. */
            metadata?: string;
            metadataUrl?: string;
            session: string;
        };
        NewSsoConnection: {
            clientId?: string;
            clientSecret?: string;
            consoleAccess?: boolean;
            consoleGroupMappings?: {
                [key: string]: "admin" | "operator" | "auditor";
            } | null;
            defaultScopes?: string[] | null;
            domains?: string[] | null;
            emailAttribute?: string | null;
            enforce?: boolean;
            groupAttribute?: string | null;
            groupMappings?: {
                [key: string]: string[];
            } | null;
            idpCertificate?: string | string[];
            idpEntityId?: string;
            idpSsoUrl?: string;
            issuerUrl?: string;
            jitProvisioning?: boolean;
            ldapBindDn?: string;
            ldapBindPassword?: string;
            ldapGroupSearchBase?: string | null;
            ldapGroupSearchFilter?: string;
            ldapSearchBase?: string;
            ldapSearchFilter?: string;
            ldapTlsEnabled?: boolean;
            ldapUrl?: string;
            name: string;
            nameAttribute?: string | null;
            /** @enum {unknown} */
            protocol: "oidc" | "saml" | "ldap";
            redirectUris?: string[] | null;
            scimManaged?: boolean;
            spAcsUrl?: string;
            spEntityId?: string;
            /** @enum {unknown} */
            status?: "active" | "inactive" | "testing";
        };
        NewStream: {
            aud?: string | string[];
            delivery?: {
                authorization_header?: string;
                endpoint_url?: string;
                method: string;
            } & {
                [key: string]: unknown;
            };
            description?: string;
            events_delivered?: string[];
            events_requested?: string[];
            events_supported?: string[];
            inactivity_timeout?: number;
            iss?: string;
            min_verification_interval?: number;
        } & {
            [key: string]: unknown;
        };
        NewVaultCredential: {
            accessToken: string;
            /** @default oauth2 */
            credentialType: string;
            /** @default {} */
            metadata: {
                [key: string]: unknown;
            };
            principalId: string;
            proxy?: components["schemas"]["ProxyLimits"] | null;
            refresh?: {
                /** @enum {unknown} */
                authMethod?: "client_secret_basic" | "client_secret_post" | "none";
                clientId: string;
                clientSecret?: string;
                revocationEndpoint?: string;
                scope?: string;
                tokenEndpoint: string;
                tokenLifetimeSeconds?: number;
            } | null;
            refreshToken?: string | null;
            service: string;
            tokenExpiresAt?: string | null;
        };
        NewVerifiableCredential: {
            expiresIn?: string;
            /** @enum {unknown} */
            format: "vc-jwt" | "sd-jwt";
            grantId: string;
            holderJwk?: components["schemas"]["PublicJwk"] | {
                /** @enum {unknown} */
                alg?: "EdDSA" | "Ed25519";
                /** @enum {string} */
                crv: "Ed25519";
                kid?: string;
                /** @enum {string} */
                kty: "OKP";
                /** @enum {string} */
                use?: "sig";
                x: string;
            };
            selectiveFields?: ("principalId" | "developerId" | "scopes" | "delegationDepth" | "grantId")[];
        };
        NewVerifier: {
            /** @description How statements name the verifier. Several verifiers may have one name. */
            name: string;
            publicKey: {
                /** @enum {string} */
                crv: "P-256";
                /** @enum {string} */
                kty: "EC";
                x: string;
                y: string;
            };
        };
        NewWalletAuthorization: {
            account: string;
            /** @default 10m */
            expiresIn: string;
            grantId: string;
            maxAmount: {
                amount: number | string;
                asset: string;
            };
            nonce?: string;
            payee?: string;
        };
        NewWebhook: {
            /** @default  */
            description: string;
            events: string[];
            /**
             * @default envelope
             * @enum {unknown}
             */
            format: "envelope" | "ocsf";
            url: string;
        };
        NewWorkload: {
            /** @default false */
            allowReuse: boolean;
            audience?: string;
            claims?: {
                [key: string]: string;
            };
            issuer: string;
            jwksUri?: string;
            /** @default 7200 */
            maxTokenSeconds: number;
            subject: string;
        };
        OAuthAuthorizationRequest: {
            acr_values?: string;
            authorization_details?: string;
            client_assertion?: string;
            client_assertion_type?: string;
            client_id?: string;
            client_secret?: string;
            code_challenge?: string;
            code_challenge_method?: string;
            dpop_jkt?: string;
            login_hint?: string;
            max_age?: string;
            principal_id?: string;
            prompt?: string;
            purpose?: string;
            redirect_uri?: string;
            request?: string;
            request_uri?: string;
            resource?: string[];
            response_mode?: string;
            response_type?: string;
            scope?: string;
            state?: string;
            ui_locales?: string;
        } & {
            [key: string]: unknown;
        };
        OAuthClient: {
            /** @enum {unknown} */
            authMethod: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "workload_jwt";
            clientId: string;
            clientSecret?: string;
            /** Format: date-time */
            createdAt: string;
            dpopBound: boolean;
            redirectUris: string[];
            /** Format: date-time */
            updatedAt: string;
        };
        OAuthClientSettings: {
            /** @enum {unknown} */
            authMethod: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "workload_jwt";
            /** @default false */
            dpopBound: boolean;
            /** @default [] */
            redirectUris: string[];
        };
        OAuthError: {
            error: string;
            error_description: string;
        };
        Offboarding: {
            addressRemoved: boolean;
            credentialsDeleted: number;
            grantsRevoked: number;
            passkeysRemoved: number;
            principalId: string;
            requestsCancelled: number;
            sessionsEnded: number;
            statement: string | null;
        };
        OffboardingProof: {
            deliveries: {
                delivered: number;
                failed: number;
                pending: number;
            };
            ended: {
                [key: string]: number;
            };
            /** Format: date-time */
            endedAt: string;
            firstSeq: number;
            hash: string;
            isClosed: boolean;
            /** @enum {unknown} */
            kind: "principal" | "agent";
            offboardingId: string;
            principalIds: string[];
            principalIdsInAnyCase: string[];
            receivers: {
                delivered: number;
                failed: number;
                pending: number;
                webhookId: string;
            }[];
            remaining: {
                [key: string]: number;
            };
            seq: number;
            statement: string;
            subjectId: string;
            upstream: {
                at: string | null;
                credentialId: string;
                service: string;
                /** @enum {unknown} */
                state: "pending" | "revoked" | "failed" | "unsupported";
            }[];
            upstreamStates: {
                failed: number;
                pending: number;
                revoked: number;
                unsupported: number;
            };
        };
        OffboardInput: {
            /** @default false */
            keepCredentials: boolean;
        };
        OidcCallback: {
            code?: string;
            iss?: string;
            redirect_uri?: string;
            state?: string;
        } & {
            [key: string]: unknown;
        };
        OidcFormPost: {
            code?: string;
            error?: string;
            iss?: string;
            state?: string;
        } & {
            [key: string]: unknown;
        };
        OpenConnectPage: {
            hint?: string;
            ticket: string;
        };
        OpenConsoleLink: {
            link: string;
        };
        OpenedConnectPage: {
            connect: components["schemas"]["ConnectPage"];
            csrfToken: string;
            id: string;
            loginUrl: string | null;
            nonce: string;
            reason: string | null;
            /** @enum {unknown} */
            status: "pending" | "started" | "returned" | "connected" | "denied" | "failed" | "cancelled" | "expired";
            verification: components["schemas"]["ConsentVerification"];
        };
        OpenedSetupLink: {
            session: string;
            setup: components["schemas"]["SetupState"];
        };
        OpenSetupLink: {
            link: string;
        };
        OperatorEntry: {
            action: string;
            /** @enum {string} */
            developerId: "operator";
            hash: string;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            prevHash: string | null;
            requestId: string;
            seq: number;
            /** @enum {string} */
            status: "success";
            /** Format: date-time */
            timestamp: string;
        };
        OperatorEntryPage: {
            entries: components["schemas"]["OperatorEntry"][];
            nextCursor: string | null;
        };
        OwnAddress: {
            address: {
                /** Format: date-time */
                provedAt: string;
                /** Format: date-time */
                usableUntil: string;
            } | null;
        };
        OwnConnectionPage: {
            connections: {
                account: {
                    id: string;
                    label: string | null;
                } | null;
                /** Format: date-time */
                connectedAt: string;
                id: string;
                lastExchangedAt: string | null;
                providerName: string;
                reason: string | null;
                scopesGranted: string[];
                service: string;
                /** @enum {unknown} */
                status: "connected" | "reauthorization_required";
            }[];
            nextCursor: string | null;
        };
        OwnEntry: {
            action: string;
            agentDid: string | null;
            agentId: string | null;
            agentName: string | null;
            entryId: string;
            grantId: string | null;
            hash: string;
            metadata: {
                [key: string]: unknown;
            };
            principalId: string;
            purpose: string | null;
            /** @enum {unknown} */
            status: "success" | "failure" | "blocked";
            /** Format: date-time */
            timestamp: string;
        };
        OwnEntryPage: {
            entries: components["schemas"]["OwnEntry"][];
            nextCursor: string | null;
        };
        OwnGrant: {
            agentDescription: string | null;
            agentDid: string | null;
            agentId: string;
            agentName: string | null;
            argumentLimits: {
                connector: string;
                lines: {
                    path: string;
                    text: string;
                }[];
                open: boolean;
                tool: string;
            }[];
            audience?: string;
            budget?: components["schemas"]["Budget"];
            delegationDepth: number;
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            /** Format: date-time */
            issuedAt: string;
            lastUsedAt: string | null;
            parentGrantId?: string;
            purpose?: string;
            purposeLabel?: string;
            /** Format: date-time */
            revokedAt?: string;
            revokedReason?: string;
            scopeDescriptions: string[];
            scopeExplanations: (string | null)[];
            scopes: string[];
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
            tools: components["schemas"]["ToolInWords"][];
            /** @enum {boolean} */
            unverified?: true;
        };
        OwnGrantPage: {
            branding?: components["schemas"]["ShownBranding"];
            developerName: string;
            grants: components["schemas"]["OwnGrant"][];
            nextCursor: string | null;
            principalId: string;
            sandbox: boolean;
            /** Format: date-time */
            sessionExpiresAt: string;
        };
        OwnPasskeyPage: {
            nextCursor: string | null;
            passkeys: components["schemas"]["Passkey"][];
        };
        Passkey: {
            backedUp: boolean;
            /** Format: date-time */
            createdAt: string;
            deviceName: string | null;
            /** @enum {unknown} */
            deviceType: "singleDevice" | "multiDevice";
            id: string;
            lastUsedAt: string | null;
            principalId: string;
            /** @enum {unknown} */
            status: "active" | "suspect";
            transports: string[];
        };
        PasskeyAnswer: {
            challengeId: string;
            response: components["schemas"]["AssertionResponse"];
        };
        PasskeyChange: {
            deviceName?: string;
            /** @enum {string} */
            status?: "active";
        };
        PasskeyCreationOptions: {
            challengeId: string;
            publicKey: {
                [key: string]: unknown;
            };
        };
        PasskeyOptions: {
            challengeId: string;
            publicKey: {
                [key: string]: unknown;
            };
        };
        PasskeyPage: {
            credentials: components["schemas"]["Passkey"][];
            nextCursor: string | null;
        };
        PasskeyRegistrationRequest: {
            principalId: string;
        };
        PasskeySignIn: {
            challengeId: string;
            clientId: string;
            requestUri: string;
            response: components["schemas"]["AssertionResponse"];
        };
        PasskeySignInOptions: {
            challengeId: string;
            publicKey: {
                [key: string]: unknown;
            };
        };
        PasskeySignInRequest: {
            clientId: string;
            requestUri: string;
        };
        PasskeyVerification: {
            verification: components["schemas"]["ConsentVerification"];
            /** @enum {boolean} */
            verified: true;
        };
        Passport: {
            "@context": string[];
            credentialStatus: {
                [key: string]: unknown;
            }[];
            credentialSubject: {
                allowedMPPCategories: ("inference" | "compute" | "data" | "storage" | "search" | "media" | "delivery" | "browser" | "general")[];
                delegationDepth: number;
                grantId: string;
                humanPrincipal: string;
                id: string;
                maxTransactionAmount: {
                    amount: number | string;
                    currency: string;
                };
                organizationDID: string;
                parentPassportId?: string;
                paymentRails: "tempo"[];
                /**
                 * @description There for accounts of the sandbox.
                 * @enum {boolean}
                 */
                sandbox?: true;
                /** @enum {string} */
                type: "AIAgent";
            };
            id: string;
            issuer: string;
            proof?: {
                [key: string]: unknown;
            };
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
            type: string[];
            /** Format: date-time */
            validFrom: string;
            /** Format: date-time */
            validUntil: string;
        };
        PassportCredential: {
            "@context": string[];
            credentialStatus: {
                [key: string]: unknown;
            }[];
            credentialSubject: {
                allowedMPPCategories: ("inference" | "compute" | "data" | "storage" | "search" | "media" | "delivery" | "browser" | "general")[];
                delegationDepth: number;
                grantId: string;
                humanPrincipal: string;
                id: string;
                maxTransactionAmount: {
                    amount: number | string;
                    currency: string;
                };
                organizationDID: string;
                parentPassportId?: string;
                paymentRails: "tempo"[];
                /**
                 * @description There for accounts of the sandbox.
                 * @enum {boolean}
                 */
                sandbox?: true;
                /** @enum {string} */
                type: "AIAgent";
            };
            id: string;
            issuer: string;
            proof?: {
                [key: string]: unknown;
            };
            type: string[];
            /** Format: date-time */
            validFrom: string;
            /** Format: date-time */
            validUntil: string;
        };
        PassportList: {
            agentId: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            passportId: string;
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
        }[];
        PassportRevocation: {
            /** @enum {boolean} */
            revoked: true;
            /** Format: date-time */
            revokedAt: string;
        };
        PassportVerification: {
            agentDid?: string;
            categories?: string[];
            /** @enum {unknown} */
            code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable";
            error?: string;
            /** Format: date-time */
            expiresAt?: string;
            grantId?: string;
            maxTransactionAmount?: {
                amount: number | string;
                currency: string;
            };
            passportId?: string;
            valid: boolean;
        };
        PolicyBundle: {
            active: boolean;
            /** Format: date-time */
            createdAt: string;
            developerId: string;
            fileCount: number;
            /** @enum {unknown} */
            format: "rego" | "cedar";
            id: string;
            sha256: string;
            version: string;
        };
        PolicyBundlePage: {
            bundles: components["schemas"]["PolicyBundle"][];
            nextCursor: string | null;
        };
        PolicyBundleSync: {
            activated: boolean;
            bundleId: string;
            fileCount: number;
            /** @enum {unknown} */
            format: "rego" | "cedar";
            sha256: string;
            version: string;
        };
        PolicyChange: {
            agentId?: string | null;
            arguments?: {
                [key: string]: unknown;
            } | null;
            connector?: string | null;
            daysOfWeek?: ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | null;
            delegationDepthMax?: number | null;
            delegationDepthMin?: number | null;
            /** @enum {unknown} */
            effect?: "deny" | "require_approval" | "allow";
            name?: string;
            networks?: string[] | null;
            principalId?: string | null;
            priority?: number;
            purposes?: string[] | null;
            scopes?: string[] | null;
            timeOfDayEnd?: string | null;
            timeOfDayStart?: string | null;
            timeZone?: string | null;
            tools?: string[] | null;
        };
        PolicyEvaluation: {
            /** @enum {unknown} */
            backend: "builtin" | "opa" | "cedar";
            conditions: components["schemas"]["MatchedCondition"][];
            effect: ("deny" | "require_approval" | "allow") | null;
            evaluated: number;
            explanation: components["schemas"]["PolicyExplanation"] | null;
            policyId: string | null;
            reason: string;
        };
        PolicyEvaluationRequest: {
            address?: string;
            agentId: string;
            arguments?: unknown;
            /** Format: date-time */
            at?: string;
            connector?: string;
            delegationDepth?: number;
            operation?: components["schemas"]["PolicyOperation"];
            principalId: string;
            purpose?: string;
            scopes: string[];
            tool?: string;
        };
        PolicyExplanation: {
            conditions: components["schemas"]["MatchedCondition"][];
            /** @enum {unknown} */
            effect: "deny" | "require_approval" | "allow";
            name: string;
            policyId: string;
            priority: number;
        };
        /** @enum {unknown} */
        PolicyOperation: "authorize" | "consent" | "token" | "refresh" | "delegate" | "enforce" | "id_jag";
        PolicyPage: {
            nextCursor: string | null;
            policies: components["schemas"]["PolicyRecord"][];
            total: number;
            /** @description Each `agentId` on this page that no agent has, so that its policies never match. */
            unknownAgents: string[];
        };
        PolicyPushReceipt: {
            message: string;
            ref: string | null;
            repository: string | null;
        };
        PolicyRecord: {
            agentId: string | null;
            arguments: {
                [key: string]: unknown;
            } | null;
            connector: string | null;
            /** Format: date-time */
            createdAt: string;
            daysOfWeek: string[] | null;
            delegationDepthMax: number | null;
            delegationDepthMin: number | null;
            /** @enum {unknown} */
            effect: "deny" | "require_approval" | "allow";
            id: string;
            name: string;
            networks: string[] | null;
            principalId: string | null;
            priority: number;
            purposes: string[] | null;
            scopes: string[] | null;
            timeOfDayEnd: string | null;
            timeOfDayStart: string | null;
            timeZone: string | null;
            tools: string[] | null;
            /** Format: date-time */
            updatedAt: string;
            version: number;
        };
        PolicyReplay: {
            /** @description Those with the most changes first, at most 100. */
            agents: {
                agentId: string;
                newlyAllowed: number;
                newlyDenied: number;
                /** @description Those for which a person has to decide. */
                newlyWaiting: number;
            }[];
            changes: {
                after: ("deny" | "require_approval" | "allow") | null;
                agentId: string;
                /** Format: date-time */
                at: string;
                before: ("deny" | "require_approval" | "allow") | null;
                entryId: string;
                explanation: components["schemas"]["PolicyExplanation"] | null;
                principalId: string;
                rule: string | null;
            }[];
            complete: boolean;
            evaluated: number;
            notEvaluated: {
                addresses: number;
                approvals: number;
                unrecorded: number;
            };
            /** @description Those with the most changes first, at most 100. */
            principals: {
                newlyAllowed: number;
                newlyDenied: number;
                /** @description Those for which a person has to decide. */
                newlyWaiting: number;
                principalId: string;
            }[];
            totals: components["schemas"]["ReplayTotals"];
            unchanged: number;
            /** @description Those that saving the draft would answer with. */
            warnings: components["schemas"]["PolicyWarning"][];
        };
        PolicyReplayRequest: {
            candidate: {
                agentId?: string | null;
                arguments?: {
                    [key: string]: unknown;
                } | null;
                connector?: string | null;
                daysOfWeek?: ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | null;
                delegationDepthMax?: number | null;
                delegationDepthMin?: number | null;
                /** @enum {unknown} */
                effect: "deny" | "require_approval" | "allow";
                id?: string;
                name: string;
                networks?: string[] | null;
                principalId?: string | null;
                priority?: number;
                purposes?: string[] | null;
                scopes?: string[] | null;
                timeOfDayEnd?: string | null;
                timeOfDayStart?: string | null;
                timeZone?: string | null;
                tools?: string[] | null;
            };
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
        };
        PolicySyncSecret: {
            secret: string;
        };
        PolicyVersion: {
            actor: string | null;
            /** Format: date-time */
            createdAt: string;
            policy: {
                agentId: string | null;
                arguments: {
                    [key: string]: unknown;
                } | null;
                connector: string | null;
                daysOfWeek: string[] | null;
                delegationDepthMax: number | null;
                delegationDepthMin: number | null;
                /** @enum {unknown} */
                effect: "deny" | "require_approval" | "allow";
                name: string;
                networks: string[] | null;
                principalId: string | null;
                priority: number;
                purposes: string[] | null;
                scopes: string[] | null;
                timeOfDayEnd: string | null;
                timeOfDayStart: string | null;
                timeZone: string | null;
                tools: string[] | null;
            };
            version: number;
        };
        PolicyVersionPage: {
            nextCursor: string | null;
            versions: components["schemas"]["PolicyVersion"][];
        };
        PolicyWarning: {
            decidedBy: string | null;
            example: {
                address?: string;
                agentId: string;
                /** Format: date-time */
                at: string;
                connector?: string;
                delegationDepth?: number;
                principalId: string;
                purpose?: string;
                scopes: string[];
                tool?: string;
            } | null;
            /** @enum {unknown} */
            kind: "never_matches" | "shadowed" | "shadows" | "contradicts" | "incomplete";
            message: string;
            policyIds: string[];
        };
        PolicyWithWarnings: {
            agentId: string | null;
            arguments: {
                [key: string]: unknown;
            } | null;
            connector: string | null;
            /** Format: date-time */
            createdAt: string;
            daysOfWeek: string[] | null;
            delegationDepthMax: number | null;
            delegationDepthMin: number | null;
            /** @enum {unknown} */
            effect: "deny" | "require_approval" | "allow";
            id: string;
            name: string;
            networks: string[] | null;
            principalId: string | null;
            priority: number;
            purposes: string[] | null;
            scopes: string[] | null;
            timeOfDayEnd: string | null;
            timeOfDayStart: string | null;
            timeZone: string | null;
            tools: string[] | null;
            /** Format: date-time */
            updatedAt: string;
            version: number;
            warnings: components["schemas"]["PolicyWarning"][];
        };
        PollRequest: {
            ack?: string[];
            /**
             * @description The most signals that the receiver takes. The service answers with 100 at most.
             * @default 100
             */
            maxEvents: number;
            /** @default false */
            returnImmediately: boolean;
            setErrs?: {
                [key: string]: {
                    description?: string;
                    err: string;
                } & {
                    [key: string]: unknown;
                };
            };
        } & {
            [key: string]: unknown;
        };
        PollResponse: {
            moreAvailable?: boolean;
            sets: {
                [key: string]: string;
            };
        };
        PortalRequest: {
            returnUrl: string;
        };
        PortalSession: {
            portalUrl: string;
        };
        PresentationVerification: {
            /** @enum {unknown} */
            code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable" | "disclosure_invalid" | "key_binding_required" | "key_binding_invalid";
            disclosedClaims?: {
                [key: string]: unknown;
            };
            error?: string;
            keyBound?: boolean;
            valid: boolean;
            vcId?: string;
        };
        PreviousConsent: {
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            /** Format: date-time */
            issuedAt: string;
            otherActive: number;
            scopes: string[];
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
        };
        PrincipalPage: {
            nextCursor: string | null;
            principals: {
                holds: ("grants" | "passkeys" | "vault" | "directory")[];
                principalId: string;
            }[];
        };
        PrincipalSummary: {
            directory: {
                active: boolean;
                userId: string;
                userName: string;
            } | null;
            grants: {
                active: number;
                expired: number;
                revoked: number;
            };
            hasAddress: boolean;
            lastActivityAt: string | null;
            offboarding: {
                /** Format: date-time */
                endedAt: string;
                isClosed: boolean;
                offboardingId: string;
            } | null;
            openRequests: number;
            passkeys: number;
            principalId: string;
            services: string[];
            sessions: number;
            truncated: boolean;
        };
        /** @description Nothing has changed. A second member of the account has to agree. */
        ProposedChange: {
            /** @description What would change. */
            about: string;
            changeId: string;
            /** Format: date-time */
            expiresAt: string;
            /** @enum {string} */
            status: "open";
        };
        ProtectedResourceMetadata: {
            authorization_details_types_supported: string[];
            authorization_servers: string[];
            bearer_methods_supported: string[];
            dpop_bound_access_tokens_required: boolean;
            dpop_signing_alg_values_supported: string[];
            resource: string;
            resource_name: string;
        };
        Provider: {
            acceptPartial: boolean;
            account: {
                id: string;
                label?: string;
                /** @enum {unknown} */
                source: "id_token" | "userinfo" | "token";
            } | null;
            /** @enum {unknown} */
            authMethod: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";
            authorizationEndpoint: string;
            authorizeParams: {
                [key: string]: string;
            };
            clientId: string;
            /** @enum {unknown} */
            clientSource: "static" | "cimd" | "dcr";
            /** Format: date-time */
            createdAt: string;
            hasClientSecret: boolean;
            id: string;
            issuer: string | null;
            jwksUri: string | null;
            /** @enum {unknown} */
            kind: "oidc" | "oauth2" | "mcp";
            lastDiscoveredAt: string | null;
            lastError: string | null;
            mcpUrl: string | null;
            name: string;
            parEndpoint: string | null;
            /** @enum {unknown} */
            pkce: "required" | "unsupported";
            preset: string | null;
            providerId: string;
            redirectUri: string;
            revocationEndpoint: string | null;
            scopes: {
                optional: string[];
                required: string[];
            };
            scopeSeparator: string;
            service: string;
            /** @enum {unknown} */
            status: "active" | "paused" | "error";
            tokenEndpoint: string;
            tokenLifetimeSeconds: number | null;
            tokenPointers: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            userinfoEndpoint: string | null;
        };
        ProviderChange: {
            acceptPartial?: boolean;
            account?: {
                id: string;
                label?: string;
                /** @enum {unknown} */
                source: "id_token" | "userinfo" | "token";
            } | null;
            /** @enum {unknown} */
            authMethod?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";
            authorizationEndpoint?: string | null;
            authorizeParams?: {
                [key: string]: string;
            };
            clientId?: string | null;
            clientSecret?: string;
            issuer?: string | null;
            mcpUrl?: string | null;
            name?: string;
            /** @enum {unknown} */
            pkce?: "required" | "unsupported";
            revocationEndpoint?: string | null;
            scopes?: {
                optional?: string[];
                required?: string[];
            };
            /** @enum {unknown} */
            scopeSeparator?: " " | ",";
            /** @enum {unknown} */
            status?: "active" | "paused";
            tokenEndpoint?: string | null;
            tokenLifetimeSeconds?: number | null;
            tokenPointers?: {
                accessToken?: string;
                expiresIn?: string;
                refreshToken?: string;
                scope?: string;
            };
            userinfoEndpoint?: string | null;
        };
        ProviderPage: {
            nextCursor: string | null;
            providers: components["schemas"]["Provider"][];
        };
        ProviderPresets: {
            presets: {
                /** @enum {unknown} */
                kind: "oidc" | "oauth2" | "mcp";
                name: string;
                open: string[];
                preset: string;
            }[];
        };
        ProxyCall: {
            agentId: string;
            callId: string;
            /** Format: date-time */
            createdAt: string;
            credentialId: string;
            durationMs: number | null;
            grantId: string;
            method: string;
            outcome: string | null;
            responseBytes: number | null;
            rule: string;
            service: string;
            status: number | null;
            tool: string | null;
            upstream: string;
        };
        ProxyCallPage: {
            calls: components["schemas"]["ProxyCall"][];
            nextCursor: string | null;
        };
        ProxyInjection: {
            /** @enum {string} */
            style: "bearer";
        } | {
            /** @enum {string} */
            style: "basic";
            username?: string;
        } | {
            name: string;
            prefix?: string;
            /** @enum {string} */
            style: "header";
        } | {
            /** @enum {boolean} */
            acknowledgeUrlRisk: true;
            name: string;
            /** @enum {string} */
            style: "query";
        };
        ProxyLimits: {
            only?: boolean;
            rules?: components["schemas"]["ProxyRule"][];
            upstreams?: string[];
        };
        /** @enum {unknown} */
        ProxyMethod: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
        ProxyProfile: {
            /** Format: date-time */
            createdAt: string;
            /** @enum {unknown} */
            exchange: "allowed" | "proxy_only";
            forwardHeaders?: string[];
            headers?: {
                [key: string]: string;
            };
            inject: components["schemas"]["ProxyInjection"];
            maxRequestBytes?: number;
            maxResponseBytes?: number;
            perMinute?: number;
            returnHeaders?: string[];
            rules: components["schemas"]["ProxyRule"][];
            service: string;
            timeoutSeconds?: number;
            /** Format: date-time */
            updatedAt: string;
            upstreams: {
                [key: string]: string;
            };
            version: number;
            warnings: {
                /** @enum {string} */
                code: "credential_in_url";
            }[];
        };
        ProxyProfilePage: {
            nextCursor: string | null;
            profiles: components["schemas"]["ProxyProfile"][];
        };
        /** @enum {unknown} */
        ProxyRefusalReason: "scope" | "no_profile" | "no_rule" | "query" | "unmapped" | "origin" | "enforcement";
        ProxyRule: {
            id: string;
            methods: components["schemas"]["ProxyMethod"][];
            path: string;
            query?: string[] | null;
            range?: boolean;
            tool?: components["schemas"]["ProxyTool"];
            /** @enum {boolean} */
            unmapped?: true;
            upstream?: string;
        };
        ProxyTool: {
            amount?: string;
            /** @enum {unknown} */
            body?: "json" | "stream" | "none";
            connector: string;
            resource?: string;
            tool: string;
        };
        PublicJwk: {
            /** @enum {string} */
            alg?: "RS256";
            e: string;
            ext?: boolean;
            key_ops?: "verify"[];
            kid?: string;
            /** @enum {string} */
            kty: "RSA";
            n: string;
            /** @enum {string} */
            use?: "sig";
        } | {
            /** @enum {string} */
            alg?: "ES256";
            /** @enum {string} */
            crv: "P-256";
            ext?: boolean;
            key_ops?: "verify"[];
            kid?: string;
            /** @enum {string} */
            kty: "EC";
            /** @enum {string} */
            use?: "sig";
            x: string;
            y: string;
        };
        PublishedJwk: {
            /** @enum {string} */
            alg: "RS256";
            e: string;
            kid: string;
            /** @enum {string} */
            kty: "RSA";
            n: string;
            /** @enum {string} */
            use: "sig";
        } | {
            /** @enum {string} */
            alg: "ES256";
            /** @enum {string} */
            crv: "P-256";
            kid: string;
            /** @enum {string} */
            kty: "EC";
            /** @enum {string} */
            use: "sig";
            x: string;
            y: string;
        };
        PushedAuthorizationResponse: {
            expires_in: number;
            request_uri: string;
        };
        /** @enum {unknown} */
        ReasonCode: "token_invalid" | "grant_revoked" | "manifest_unknown_tool" | "tool_not_granted" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed" | "decision_required" | "case_required" | "cap_exceeded";
        Receipt: {
            /** @enum {unknown} */
            audience: "principal" | "developer";
            checkpoint: {
                note: string | null;
                root: string;
                size: number;
            };
            consent: {
                parts: string[];
            } | null;
            entries: {
                hash: string;
                index: number;
                parts: string[];
            }[];
            /** @enum {string} */
            format: "behest.receipt/1";
            /** Format: date-time */
            generatedAt: string;
            grantId: string;
            issuer: string;
            issuerDid: string;
            keys: {
                did: unknown;
                jwks: unknown;
                witnesses: string[];
            };
            labels: {
                agents: {
                    [key: string]: string;
                };
                scopes: {
                    [key: string]: string;
                };
            };
            limits?: {
                budgets: {
                    allocationId: string;
                    currency: string;
                    grantId: string;
                    limit: string;
                    peak: string;
                    spent: string;
                }[];
                calls: number;
                caps: {
                    connector: string;
                    grantId: string;
                    limit: number;
                    peak: number;
                    tool?: string;
                    /** @enum {unknown} */
                    window: "per_hour" | "per_day" | "per_case";
                }[];
                first: {
                    grantId: string;
                    /** @enum {unknown} */
                    problem: "cap_exceeded" | "not_counted" | "budget_exceeded" | "balance_differs";
                    seq: number;
                } | null;
                holds: boolean | null;
                refunded: number;
                unread: number;
            };
            log: {
                origin: string;
                url: string;
                vkey: string | null;
            };
            proof: string[];
            rootGrantId: string;
            /** @enum {boolean} */
            sandbox?: true;
            /** Format: date-time */
            since?: string;
            statement: string;
            /** Format: date-time */
            until?: string;
            warnings: string[];
        };
        Receiver: {
            audience: string;
            clientId: string;
            /** Format: date-time */
            createdAt: string;
            events: string[];
            id: string;
            name: string;
            previousSecretExpiresAt: string | null;
            receiverId: string;
            secretRotatedAt: string | null;
            staticToken: boolean;
            /** @enum {unknown} */
            subjectFormat: "iss_sub" | "email";
            /** @enum {unknown} */
            subjectShape: "complex" | "simple";
            /** Format: date-time */
            updatedAt: string;
        };
        ReceiverChange: {
            events?: string[];
            name?: string;
            /** @enum {unknown} */
            subjectFormat?: "iss_sub" | "email";
            /** @enum {unknown} */
            subjectShape?: "complex" | "simple";
        };
        ReceiverPage: {
            nextCursor: string | null;
            receivers: components["schemas"]["Receiver"][];
        };
        ReceiverRotation: {
            /** @default 86400 */
            graceSeconds: number;
        };
        ReceiverStream: {
            /** Format: date-time */
            createdAt: string;
            description: string | null;
            endpointUrl: string;
            events: string[];
            failingSince: string | null;
            failures: number;
            /** @enum {unknown} */
            method: "push" | "poll";
            polledAt: string | null;
            receiverId: string;
            /** @enum {unknown} */
            status: "enabled" | "paused" | "disabled";
            statusReason: string | null;
            streamId: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ReceiverStreamList: {
            streams: components["schemas"]["ReceiverStream"][];
        };
        RecipientConfirmation: {
            account: string;
            email: string;
            /** @enum {unknown} */
            status: "pending" | "confirmed";
        };
        RecoverByCode: {
            /** @description Spaces, hyphens and case do not count. */
            code: string;
            email: string;
        };
        RecoveredDeliveries: {
            /** @description False when more are left: send the request again. */
            complete: boolean;
            requeued: number;
        };
        RecoverRequest: {
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until?: string;
        };
        RecoveryCodes: {
            /** @description Each signs you in once, to nothing but the registration of a passkey. No other answer shows them. */
            recoveryCodes: string[];
        };
        RefreshTokenRequest: {
            agentId: string;
            refreshToken: string;
        };
        RegistrationResponse: {
            id: string;
            rawId: string;
            response: {
                attestationObject: string;
                clientDataJSON: string;
                transports?: string[];
            } & {
                [key: string]: unknown;
            };
            /** @enum {string} */
            type: "public-key";
        } & {
            [key: string]: unknown;
        };
        Renewal: {
            /** @description A compact JWS, signed with the key of the verifier: `typ` `verifier-position+jwt`, claims `iss` (the id of the verifier), `seq`, `hash` and `iat`. */
            position?: string;
        };
        ReplayTotals: {
            newlyAllowed: number;
            newlyDenied: number;
            /** @description Those for which a person has to decide. */
            newlyWaiting: number;
        };
        RequestPage: {
            nextCursor: string | null;
            requests: components["schemas"]["AuthorizationRequest"][];
        };
        Resource: {
            connectors: string[];
            /** Format: date-time */
            createdAt: string;
            dpopRequired: boolean;
            id: string;
            loginUrl: string | null;
            name: string;
            resource: string;
            scopes: string[];
            scopeWords: {
                [key: string]: components["schemas"]["ScopeWords"];
            };
            tokenTtlSeconds: number;
            /** Format: date-time */
            updatedAt: string;
        };
        ResourceChange: {
            connectors?: string[] | null;
            dpopRequired?: boolean;
            loginUrl?: string | null;
            name?: string;
            scopes?: string[];
            scopeWords?: {
                [key: string]: components["schemas"]["ScopeWords"];
            };
            tokenTtlSeconds?: number;
        };
        ResourceList: {
            itemsPerPage: number;
            nextCursor?: string;
            Resources: components["schemas"]["ScimResource"][];
            schemas: string[];
            startIndex?: number;
            totalResults: number;
        };
        ResourcePage: {
            nextCursor: string | null;
            resources: components["schemas"]["Resource"][];
        };
        ResumeAuthorizationRequest: {
            clientId: string;
            hint: string;
            requestUri: string;
        };
        RevocationStatement: {
            /** @description Whether no verifier can answer from memory any more. */
            complete: boolean;
            grantId: string;
            position: {
                hash: string;
                seq: number;
            };
            /** Format: date-time */
            revokedAt: string;
            /** @description The same, signed, with the signatures of the verifiers: a JWS with `typ` `revocation-statement+jwt`. */
            statement: string;
            verifiers: {
                /** Format: date-time */
                at: string;
                name: string;
                /**
                 * @description `lapsed`: the verifier has not confirmed, and asks the service at each call. `unconfirmed`: until `at` it may answer from memory.
                 * @enum {unknown}
                 */
                state: "confirmed" | "lapsed" | "unconfirmed";
                verifierId: string;
            }[];
        };
        RevokeCredentialRequest: {
            reason?: string;
        };
        RevokedGrants: {
            cancelled: number;
            revoked: number;
        };
        RevokeTokenRequest: {
            jti?: string;
            token?: string;
        };
        RotateApiKey: {
            /** @default 0 */
            graceSeconds: number;
            name?: string;
        };
        RotatedApiKey: {
            apiKey: string;
            keyId: string;
            /** Format: date-time */
            previousKeyExpiresAt: string;
            /** Format: date-time */
            rotatedAt: string;
        };
        RotatedReceiverSecret: {
            accessToken?: string;
            /** Format: date-time */
            accessTokenExpiresAt?: string;
            clientSecret: string;
            id: string;
            /** Format: date-time */
            previousSecretExpiresAt: string;
        };
        RotatedWebhookSecret: {
            id: string;
            /** Format: date-time */
            previousSecretExpiresAt: string;
            secret: string;
        };
        SamlMetadata: {
            /** @description The certificates that may sign, as PEM. */
            idpCertificate: string[];
            idpEntityId: string;
            idpSsoUrl: string;
        };
        SamlMetadataSource: {
            /** @description At most `SSO_METADATA_LIMIT_BYTES`. */
            metadata?: string;
            metadataUrl?: string;
        };
        SamlResponse: {
            RelayState: string;
            SAMLResponse: string;
        } & {
            [key: string]: unknown;
        };
        SandboxDecision: {
            authRequestId: string;
            code?: string;
            requestId: string;
            status: components["schemas"]["AuthorizationRequestStatus"];
        };
        ScimError: {
            detail: string;
            schemas: string[];
            scimType?: string;
            status: string;
        };
        ScimResource: {
            id?: string;
            schemas?: string[];
        } & {
            [key: string]: unknown;
        };
        ScimToken: {
            /** Format: date-time */
            createdAt: string;
            expiresAt: string | null;
            id: string;
            label: string;
            lastUsedAt: string | null;
        };
        ScimTokenPage: {
            nextCursor: string | null;
            tokens: components["schemas"]["ScimToken"][];
        };
        ScopeWords: {
            description?: string;
            title: string;
            titles?: {
                [key: string]: {
                    description?: string;
                    title?: string;
                };
            };
        };
        SearchResults: {
            results: {
                hint: string;
                id: string;
                /** @enum {unknown} */
                kind: "agent" | "grant" | "token" | "request" | "decision" | "entry" | "principal" | "key" | "policy" | "webhook" | "delivery" | "credential" | "anomaly" | "approver" | "connection" | "user";
                title: string;
            }[];
        };
        SecurityEventToken: {
            set: string;
        };
        SentEmailCode: {
            /** Format: date-time */
            expiresAt: string;
        };
        SentEmailVerification: {
            /** Format: date-time */
            expiresAt: string;
            message: string;
        };
        SentSignInLink: {
            message: string;
        };
        Series: {
            /** @description Whether each point has a count. */
            complete: boolean;
            /** Format: date-time */
            from: string;
            /** @enum {unknown} */
            metric: "verifications" | "denials" | "grants" | "revocations" | "decisions";
            /** @description One for each hour or day (UTC), oldest first. */
            points: {
                /** Format: date-time */
                at: string;
                /** @description Null where nothing was counted: before counting began or the counts were deleted, and in the future. */
                count: number | null;
            }[];
            /** @enum {unknown} */
            step: "hour" | "day";
            /** Format: date-time */
            to: string;
            total: number;
        };
        ServiceDidDocument: {
            "@context": string[];
            assertionMethod: string[];
            authentication: string[];
            id: string;
            service: {
                id: string;
                serviceEndpoint: string;
                type: string;
            }[];
            verificationMethod: ({
                controller: string;
                id: string;
                publicKeyJwk: {
                    [key: string]: unknown;
                };
                /** @enum {string} */
                type: "JsonWebKey2020";
            } | {
                controller: string;
                id: string;
                publicKeyMultibase: string;
                /** @enum {string} */
                type: "Multikey";
            })[];
        };
        SessionPage: {
            nextCursor: string | null;
            sessions: {
                /** Format: date-time */
                createdAt: string;
                /** @description Whether it is the session that asks. */
                current: boolean;
                /** Format: date-time */
                expiresAt: string;
                id: string;
                ip: string;
                /** Format: date-time */
                lastSeenAt: string;
                memberId: string;
                /** @enum {unknown} */
                openedBy: "key" | "link" | "passkey" | "invitation" | "recovery" | "code" | "sso";
                userAgent: string | null;
            }[];
        };
        SetDelivery: {
            attempts: number;
            /** Format: date-time */
            createdAt: string;
            deliveredAt: string | null;
            eventId: string;
            eventType: string;
            id: string;
            jti: string;
            lastAttemptAt: string | null;
            lastError: string | null;
            lastStatusCode: number | null;
            maxAttempts: number;
            nextAttemptAt: string | null;
            /** @enum {unknown} */
            status: "pending" | "delivered" | "failed";
            streamId: string;
        };
        SetDeliveryPage: {
            deliveries: components["schemas"]["SetDelivery"][];
            nextCursor: string | null;
        };
        SetError: {
            description: string;
            err: string;
        };
        SetSsoSignals: {
            audience?: string;
            /** @description The credential with which the service makes the stream at the transmitter. It is in no answer, so send it with every write. Without it an administrator makes the stream. */
            auth?: {
                token: string;
                /** @enum {string} */
                type: "bearer";
            } | {
                clientId: string;
                clientSecret: string;
                scope?: string;
                tokenEndpoint: string;
                /** @enum {string} */
                type: "client_credentials";
            };
            /** @enum {unknown} */
            delivery?: "push" | "poll";
            /**
             * @description Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one.
             * @enum {unknown}
             */
            onSessionRevoked?: "sessions" | "idp" | "all";
            requireHeader?: boolean;
            tenant?: string | null;
            transmitter?: string;
        };
        SetupLink: {
            connectionId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
            finishedAt: string | null;
            id: string;
            /** @description The customer, as their administrator reads it. */
            name: string;
            openedAt: string | null;
            purposes: ("sso" | "scim")[];
            /** @enum {unknown} */
            status: "open" | "opened" | "finished" | "expired";
        };
        SetupLinkPage: {
            links: components["schemas"]["SetupLink"][];
            nextCursor: string | null;
        };
        SetupProviderTest: {
            /** @description Says to an administrator which part failed, and how to repair it. */
            message?: string;
            success: boolean;
        };
        SetupScimToken: {
            scimUrl: string;
            token: string;
        };
        SetupSession: {
            session: string;
        };
        SetupState: {
            accountName: string;
            acsUrl: string;
            entityId: string;
            /** Format: date-time */
            expiresAt: string;
            name: string;
            protocol: ("oidc" | "saml" | "ldap") | null;
            purposes: ("sso" | "scim")[];
            redirectUri: string;
            scimUrl: string;
        };
        ShownBranding: {
            accentColor?: string;
            logoUrl?: string;
        };
        SignInByKey: {
            displayName: string;
            email: string;
        };
        SignInLink: {
            token: string;
        };
        SignInLinkRequest: {
            email: string;
            link?: string;
        };
        SignOnRedirect: {
            redirectTo: string;
        };
        SignUp: {
            email?: string | null;
            /**
             * @default live
             * @enum {unknown}
             */
            mode: "live" | "sandbox";
            name: string;
        };
        SsoConnection: {
            clientId?: string;
            /** @description Whether people come into the console of the account by this connection. Only an owner sets it, in a session of the console. */
            consoleAccess: boolean;
            consoleGroupMappings: {
                [key: string]: "admin" | "operator" | "auditor";
            };
            /** Format: date-time */
            createdAt: string;
            defaultScopes: string[];
            developerId: string;
            domains: string[];
            emailAttribute: string | null;
            enforce: boolean;
            groupAttribute: string | null;
            groupMappings: {
                [key: string]: string[];
            };
            id: string;
            idpCertificates?: {
                fingerprintSha256: string;
                /** Format: date-time */
                notAfter: string;
            }[];
            idpEntityId?: string;
            idpSsoUrl?: string;
            issuerUrl?: string;
            jitProvisioning: boolean;
            lastLoginAt: string | null;
            lastTestedAt: string | null;
            ldapBindDn?: string;
            ldapGroupSearchBase?: string | null;
            ldapGroupSearchFilter?: string;
            ldapSearchBase?: string;
            ldapSearchFilter?: string;
            ldapTlsEnabled?: boolean;
            ldapUrl?: string;
            name: string;
            nameAttribute: string | null;
            /** @enum {unknown} */
            protocol: "oidc" | "saml" | "ldap";
            redirectUris?: string[];
            scimManaged: boolean;
            spAcsUrl?: string;
            spEntityId?: string;
            /** @enum {unknown} */
            status: "active" | "inactive" | "testing";
            /** Format: date-time */
            updatedAt: string;
        };
        SsoConnectionChange: {
            clientId?: string;
            clientSecret?: string;
            consoleAccess?: boolean;
            consoleGroupMappings?: {
                [key: string]: "admin" | "operator" | "auditor";
            } | null;
            defaultScopes?: string[] | null;
            domains?: string[] | null;
            emailAttribute?: string | null;
            enforce?: boolean;
            groupAttribute?: string | null;
            groupMappings?: {
                [key: string]: string[];
            } | null;
            idpCertificate?: string | string[];
            idpEntityId?: string;
            idpSsoUrl?: string;
            issuerUrl?: string;
            jitProvisioning?: boolean;
            ldapBindDn?: string;
            ldapBindPassword?: string;
            ldapGroupSearchBase?: string | null;
            ldapGroupSearchFilter?: string;
            ldapSearchBase?: string;
            ldapSearchFilter?: string;
            ldapTlsEnabled?: boolean;
            ldapUrl?: string;
            name?: string;
            nameAttribute?: string | null;
            /** @enum {unknown} */
            protocol?: "oidc" | "saml" | "ldap";
            redirectUris?: string[] | null;
            scimManaged?: boolean;
            spAcsUrl?: string;
            spEntityId?: string;
            /** @enum {unknown} */
            status?: "active" | "inactive" | "testing";
        };
        SsoConnectionPage: {
            connections: components["schemas"]["SsoConnection"][];
            nextCursor: string | null;
        };
        SsoDiscovery: {
            connectionId: string;
            enforced: boolean;
            loginUrl: string;
            org: string;
            /** @enum {unknown} */
            protocol: "oidc" | "saml" | "ldap";
        };
        SsoEnforcement: {
            developerId: string;
            enforce: boolean;
        };
        SsoEnforcementChange: {
            enforce: boolean;
        };
        SsoIdentities: {
            identities: components["schemas"]["SsoIdentity"][];
        };
        SsoIdentity: {
            connectionId: string;
            /** Format: date-time */
            createdAt: string;
            principalId: string;
            /** @description The issuer, the entity id or the directory. */
            provider: string;
            /** @description The person at the provider: `<issuer>|<sub>`, `<format>|<NameID>`, or the id of the directory’s entry. */
            subject: string;
            userId: string;
        };
        SsoIdentityMove: {
            principalId: string;
            subject: string;
        };
        SsoLoginStart: {
            authorizeUrl: string;
            connectionId: string;
            message?: string;
            /** @enum {unknown} */
            protocol: "oidc" | "saml" | "ldap";
        };
        SsoLogout: {
            providerUrl: string | null;
            signedOut: boolean;
        };
        SsoSession: {
            connectionId: string;
            /** Format: date-time */
            createdAt: string;
            email: string | null;
            /** Format: date-time */
            expiresAt: string;
            /** @description The groups that the provider named at the login, and the SCIM groups of the user that `groupMappings` names. */
            groups: string[];
            id: string;
            idpSubject: string;
            /** @description The scopes of these groups by `groupMappings` as they are now, else `defaultScopes`. */
            mappedScopes: string[];
            name: string | null;
            principalId: string | null;
        };
        SsoSessionPage: {
            nextCursor: string | null;
            sessions: components["schemas"]["SsoSession"][];
        };
        SsoSignals: {
            audience: string;
            authType: ("bearer" | "client_credentials") | null;
            connectionId: string;
            /** Format: date-time */
            createdAt: string;
            /** @enum {unknown} */
            delivery: "push" | "poll";
            /** @description The address to which the identity provider pushes signals. */
            endpointUrl: string;
            lastError: string | null;
            lastPolledAt: string | null;
            lastSignalAt: string | null;
            /**
             * @description Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one.
             * @enum {unknown}
             */
            onSessionRevoked: "sessions" | "idp" | "all";
            requireHeader: boolean;
            silentSince: string | null;
            streamId: string | null;
            tenant: string | null;
            transmitter: string;
            /** Format: date-time */
            updatedAt: string;
            verifiedAt: string | null;
        };
        SsoTest: {
            authorizationEndpoint?: string;
            bind?: boolean;
            /** Format: date-time */
            certificateExpiresAt?: string;
            /** @description The category of the failure, for programs. */
            error?: string;
            idpEntityId?: string;
            idpSsoUrl?: string;
            issuer?: string;
            jwksUri?: string;
            /** @description Says to an administrator which part failed, and how to repair it. */
            message?: string;
            /** @enum {unknown} */
            protocol: "oidc" | "saml" | "ldap";
            searchBase?: string;
            success: boolean;
            tokenEndpoint?: string;
        };
        StatusListCredential: {
            "@context": string[];
            credentialSubject: {
                encodedList: string;
                id: string;
                /** @enum {string} */
                statusPurpose: "revocation";
                ttl?: number;
                /** @enum {unknown} */
                type: "BitstringStatusList" | "StatusList2021";
            };
            id: string;
            issuer: string;
            proof?: {
                /** Format: date-time */
                created: string;
                /** @enum {string} */
                cryptosuite: "eddsa-jcs-2022";
                /** @enum {string} */
                proofPurpose: "assertionMethod";
                proofValue: string;
                /** @enum {string} */
                type: "DataIntegrityProof";
                verificationMethod: string;
            };
            type: string[];
            /** Format: date-time */
            validFrom: string;
            /** Format: date-time */
            validUntil: string;
        };
        StopAccount: {
            reason?: string;
        };
        StopPreview: {
            agents: number;
            calls: number;
            grants: number;
            principals: number;
            requests: number;
            truncated: boolean;
        };
        StoredCredential: {
            /** Format: date-time */
            createdAt: string;
            credentialType: string;
            hasRefreshToken: boolean;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            principalId: string;
            proxy: components["schemas"]["StoredProxy"] | null;
            /** @enum {unknown} */
            refreshStatus: "none" | "ok" | "failed";
            replaced: boolean;
            service: string;
            tokenExpiresAt: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        StoredProxy: {
            frozen: {
                /** @enum {unknown} */
                exchange: "allowed" | "proxy_only";
                origins: string[];
            };
            only?: boolean;
            rules?: components["schemas"]["ProxyRule"][];
            upstreams?: string[];
        };
        StreamChange: {
            aud?: string | string[];
            delivery?: {
                authorization_header?: string;
                endpoint_url?: string;
                method: string;
            } & {
                [key: string]: unknown;
            };
            description?: string;
            events_delivered?: string[];
            events_requested?: string[];
            events_supported?: string[];
            inactivity_timeout?: number;
            iss?: string;
            min_verification_interval?: number;
            stream_id: string;
        } & {
            [key: string]: unknown;
        };
        StreamConfiguration: {
            aud: string;
            delivery: {
                endpoint_url: string;
                method: string;
            };
            description?: string;
            events_delivered: string[];
            events_requested: string[];
            events_supported: string[];
            inactivity_timeout?: number;
            iss: string;
            min_verification_interval: number;
            stream_id: string;
        };
        StreamStatus: {
            reason?: string;
            /** @enum {unknown} */
            status: "enabled" | "paused" | "disabled";
            stream_id: string;
        };
        StreamStatusChange: {
            reason?: string;
            /** @enum {unknown} */
            status: "enabled" | "paused" | "disabled";
            stream_id: string;
        } & {
            [key: string]: unknown;
        };
        StreamVerificationRequest: {
            state?: string;
            stream_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @enum {unknown} */
        SubReason: "malformed_authorization_details" | "revoked" | "suspended" | "parent_revoked" | "status_unavailable" | "unknown_connector" | "unknown_tool" | "manifest_changed" | "tool_changed" | "tool_ambiguous" | "not_in_authorization_details" | "argument_unreadable" | "policy_denied" | "tool_scope_missing" | "missing" | "unknown_purpose" | "not_matched" | "malformed" | "unknown_grant" | "wrong_agent" | "wrong_case" | "case_changed" | "action_mismatch" | "expired" | "four_eyes_incomplete" | "same_approver" | "spliced" | "consumed" | "consume_unavailable" | "limit_reached" | "meter_unavailable" | "invalid_case_id" | "invalid_cost_component" | "amount_missing" | "invalid_amount" | "malformed_cap" | "amount_cap" | "argument_missing" | "argument_not_allowed";
        Subscription: {
            cancelAtPeriodEnd: boolean;
            currentPeriodEnd: string | null;
            /** @enum {unknown} */
            effectivePlan: "free" | "pro" | "enterprise";
            graceEndsAt: string | null;
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
            /** @enum {unknown} */
            status: "active" | "past_due" | "canceled";
        };
        TokenIntrospection: {
            act?: {
                [key: string]: unknown;
            };
            active: boolean;
            aud?: string | string[];
            authorization_details?: unknown[];
            client_id?: string;
            cnf?: {
                jkt: string;
            };
            dev?: string;
            exp?: number;
            iat?: number;
            iss?: string;
            jti?: string;
            nbf?: number;
            scope?: string;
            sub?: string;
            /** @enum {unknown} */
            token_type?: "Bearer" | "DPoP";
            "urn:service:grant"?: {
                [key: string]: unknown;
            };
        };
        TokenPage: {
            nextCursor: string | null;
            tokens: {
                /** Format: date-time */
                expiresAt: string;
                /** Format: date-time */
                issuedAt: string;
                /** Format: date-time */
                revokedAt?: string;
                /** @enum {unknown} */
                status: "active" | "revoked" | "expired";
                tokenId: string;
            }[];
        };
        TokenReference: {
            client_assertion?: string;
            client_assertion_type?: string;
            client_id?: string;
            client_secret?: string;
            token?: string;
            token_type_hint?: string;
        } & {
            [key: string]: unknown;
        };
        TokenRequest: {
            actor_token?: string;
            actor_token_type?: string;
            assertion?: string;
            audience?: string;
            auth_req_id?: string;
            authorization_details?: string;
            client_assertion?: string;
            client_assertion_type?: string;
            client_id?: string;
            client_secret?: string;
            code?: string;
            code_verifier?: string;
            credential_format?: string;
            device_code?: string;
            expires_in?: string;
            grant_type?: string;
            redirect_uri?: string;
            refresh_token?: string;
            requested_token_type?: string;
            resource?: string[];
            scope?: string;
            subject_token?: string;
            subject_token_type?: string;
        } & {
            [key: string]: unknown;
        };
        TokenResponse: {
            access_token: string;
            authorization_details?: unknown[];
            expires_in: number;
            issued_token_type?: string;
            refresh_token?: string;
            resource?: string[];
            scope: string;
            sdJwtCredential?: string;
            /** @enum {unknown} */
            token_type: "Bearer" | "DPoP";
            "urn:service:grant"?: {
                grant_id: string;
            };
            verifiableCredential?: string;
        };
        TokenVerification: {
            agent?: string;
            agentDid?: string;
            agentId?: string;
            audience?: string;
            authorizationDetails?: unknown[];
            cnf?: {
                jkt: string;
            };
            delegationDepth?: number;
            developerId?: string;
            /** Format: date-time */
            expiresAt?: string;
            grantId?: string;
            /** Format: date-time */
            issuedAt?: string;
            parentGrantId?: string;
            principal?: string;
            principalId?: string;
            purpose?: string;
            /** @enum {unknown} */
            reason?: "expired" | "revoked" | "grant_inactive" | "agent_inactive" | "audience" | "scope";
            /** @enum {boolean} */
            reconsentRequired?: true;
            /** @enum {boolean} */
            sandbox?: true;
            scopes?: string[];
            tokenId?: string;
            valid: boolean;
        };
        ToolInWords: {
            connector: string;
            covers: {
                description: string | null;
                language: string | null;
                level: ("read" | "write" | "delete" | "admin") | null;
                title: string | null;
                tool: string;
            }[];
            description: string | null;
            language: string | null;
            level: ("read" | "write" | "delete" | "admin") | null;
            more: number;
            title: string | null;
            tool: string;
        };
        ToolUsage: {
            connector: string;
            counters: {
                /** @enum {unknown} */
                kind: "calls" | "cost_units";
                limit: number;
                remaining: number;
                retryAt: string | null;
                /** @enum {unknown} */
                scope: "manifest" | "grant" | "ancestor";
                used: number;
                /** @enum {unknown} */
                window: "per_hour" | "per_day" | "per_case";
            }[];
            grantId: string;
            tool: string;
        };
        TransmitterMetadata: {
            authorization_schemes: {
                spec_urn: string;
            }[];
            configuration_endpoint: string;
            default_subjects: string;
            delivery_methods_supported: string[];
            issuer: string;
            jwks_uri: string;
            spec_version: string;
            status_endpoint: string;
            verification_endpoint: string;
        };
        TransparencyState: {
            halted: string | null;
            logId: string;
            mergeDelaySeconds: number;
            note: string | null;
            /** @description The name of the log, with which each note begins */
            origin: string;
            /** @description SHA-256, in base64 with padding */
            rootHash: string;
            signedAt: string | null;
            treeSize: number;
            /** @description Everybody reads the note and the tiles below this address */
            url: string;
            vkey: string | null;
            witnesses: {
                cosignedAt: string | null;
                error: string | null;
                name: string;
                /** @description The size that the witness confirmed last */
                treeSize: number;
            }[];
        };
        UpdatedDeveloper: {
            auditPrivateKeys: string[];
            auditRetentionDays: number | null;
            /** @enum {unknown} */
            capsMode: "enforce" | "warn";
            connectLoginUrl: string | null;
            consentKeys: {
                [key: string]: unknown;
            }[];
            /** @enum {unknown} */
            consentMode: "developer" | "email" | "sso" | "passkey";
            /** Format: date-time */
            createdAt: string;
            developerId: string;
            email: string | null;
            emailVerified: boolean;
            enforceAgentScopes: boolean;
            fidoRequired: boolean;
            fidoRpName: string | null;
            /** @enum {unknown} */
            fourEyesAssurance: "dual" | "sso";
            id: string;
            /** @enum {unknown} */
            manifestPinning: "off" | "warn" | "enforce";
            maxDelegationDepth: number | null;
            /** @enum {unknown} */
            mode: "live" | "sandbox";
            name: string;
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
            policyAutoApproval: boolean;
            reconsentAfterDays: number | null;
            reconsentOnAgentChange: boolean;
            redirectUris: string[];
            relaxFourEyes: boolean;
            requireTwoForLoosening: boolean;
            scopeDescriptions: {
                [key: string]: string;
            };
            stoppedAt: string | null;
            stopReason: string | null;
            /** @enum {boolean} */
            updated: true;
            /** Format: date-time */
            updatedAt: string;
        };
        Usage: {
            authorizations: number;
            developerId: string;
            limits: {
                authorizationsPerMonth: number | null;
                tokenExchangesPerMonth: number | null;
            };
            month: {
                authorizations: number;
                period: string;
                tokenExchanges: number;
                totalRequests: number;
                verifications: number;
            };
            period: string;
            /** @enum {unknown} */
            plan: "free" | "pro" | "enterprise";
            tokenExchanges: number;
            totalRequests: number;
            verifications: number;
        };
        UsageHistory: {
            days: number;
            developerId: string;
            entries: {
                authorizations: number;
                date: string;
                /** @description Calls through the vault proxy that an upstream answered, whatever its status; outside `totalRequests`. In every entry of an answer whose days have such a call, and in none of another. */
                proxyCalls?: number;
                tokenExchanges: number;
                totalRequests: number;
                verifications: number;
            }[];
        };
        UserCodeEntry: {
            hint?: string;
            uiLocales?: string;
            userCode: string;
        };
        UserCodeQuestion: {
            userCode: string;
        };
        VaultCredential: {
            connection: components["schemas"]["Connection"] | null;
            /** Format: date-time */
            createdAt: string;
            credentialType: string;
            hasRefreshToken: boolean;
            id: string;
            keyId: string;
            lastExchangedAt: string | null;
            metadata: {
                [key: string]: unknown;
            };
            principalId: string;
            proxy: components["schemas"]["StoredProxy"] | null;
            /** @enum {unknown} */
            refreshStatus: "none" | "ok" | "failed";
            service: string;
            tokenExpiresAt: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        VaultCredentialPage: {
            credentials: components["schemas"]["VaultCredential"][];
            nextCursor: string | null;
            page: number;
            pageSize: number;
            total: number;
        };
        VerifiableCredential: {
            agentDid: string;
            credential: string;
            credentialJwt: string;
            credentialType: string;
            developerId: string;
            /** Format: date-time */
            expiresAt: string;
            /** @enum {unknown} */
            format: "vc-jwt" | "sd-jwt" | "agent-passport";
            grantId: string;
            id: string;
            /** Format: date-time */
            issuedAt: string;
            principalId: string;
            revokedAt: string | null;
            /** @enum {unknown} */
            status: "active" | "revoked" | "expired";
            statusListId: string;
            statusListIdx: number;
        };
        VerifiableCredentialPage: {
            credentials: components["schemas"]["VerifiableCredential"][];
            nextCursor: string | null;
        };
        VerifiedDomain: {
            message: string;
            /** @enum {boolean} */
            verified: true;
        };
        VerifiedEmail: {
            email?: string;
            message: string;
        };
        Verifier: {
            /** Format: date-time */
            createdAt: string;
            name: string;
            verifierId: string;
        };
        VerifyCredentialRequest: {
            credential: string;
        };
        VerifyEmail: {
            email: string;
        };
        VerifyGrantRequest: {
            token: string;
        };
        VerifyPasskeyRegistration: {
            challengeId: string;
            deviceName?: string;
            response: components["schemas"]["RegistrationResponse"];
        };
        VerifyPassportRequest: {
            passport: string;
        };
        VerifyPresentationRequest: {
            audience?: string;
            nonce?: string;
            sdJwt: string;
        };
        VerifyTokenRequest: {
            audience?: string;
            requiredScopes?: string[];
            token: string;
        };
        VerifyWalletAuthorizationRequest: {
            authorization: string;
        };
        WaitingBrand: {
            branding?: components["schemas"]["ShownBranding"];
            developerName: string;
        };
        WalletAuthorization: {
            account: string;
            agentId: string;
            authorization: string;
            consumedAt: string | null;
            /** Format: date-time */
            expiresAt: string;
            grantId: string;
            id: string;
            /** Format: date-time */
            issuedAt: string;
            maxAmount: {
                amount: number | string;
                asset: string;
            };
            nonce?: string;
            payee?: string;
            principalId: string;
            revokedAt: string | null;
            /** @enum {unknown} */
            status: "active" | "consumed" | "revoked" | "expired";
        };
        WalletAuthorizationPage: {
            authorizations: components["schemas"]["WalletAuthorization"][];
            nextCursor: string | null;
        };
        WalletAuthorizationVerification: {
            account?: string;
            /** @enum {unknown} */
            code?: "malformed" | "typ_not_allowed" | "issuer_unknown" | "bad_signature" | "not_yet_valid" | "expired" | "revoked" | "suspended" | "status_unavailable" | "consumed";
            error?: string;
            /** Format: date-time */
            expiresAt?: string;
            id?: string;
            maxAmount?: {
                amount: number | string;
                asset: string;
            };
            nonce?: string;
            payee?: string;
            valid: boolean;
        };
        Webhook: {
            /** Format: date-time */
            createdAt: string;
            description: string;
            events: string[];
            /** @enum {unknown} */
            format: "envelope" | "ocsf";
            id: string;
            lastDeliveryAt: string | null;
            previousSecretExpiresAt: string | null;
            secretRotatedAt: string | null;
            /** @enum {unknown} */
            status: "active" | "disabled";
            /** Format: date-time */
            updatedAt: string;
            url: string;
            webhookId: string;
        };
        WebhookChange: {
            description?: string;
            events?: string[];
            /** @enum {unknown} */
            format?: "envelope" | "ocsf";
            /** @enum {unknown} */
            status?: "active" | "disabled";
            url?: string;
        };
        WebhookDelivery: {
            attempts: number;
            /** Format: date-time */
            createdAt: string;
            deliveredAt: string | null;
            eventId: string;
            eventType: string;
            id: string;
            lastAttemptAt: string | null;
            lastError: string | null;
            lastStatusCode: number | null;
            maxAttempts: number;
            nextAttemptAt: string | null;
            /** @enum {unknown} */
            status: "pending" | "delivered" | "failed";
            url: string;
            webhookId: string;
        };
        WebhookDeliveryDetail: {
            /** @description The latest attempts, at most 20, oldest first. No part of an answer is kept. */
            attemptLog: {
                /** Format: date-time */
                at: string;
                durationMs: number | null;
                error: string | null;
                /** @description Counts on when a failed delivery is put back into the queue. */
                n: number;
                statusCode: number | null;
            }[];
            attempts: number;
            /** Format: date-time */
            createdAt: string;
            deliveredAt: string | null;
            eventId: string;
            eventType: string;
            /** @description What was sent beside it at the last attempt, without the signatures. */
            headers: {
                [key: string]: string;
            };
            id: string;
            lastAttemptAt: string | null;
            lastError: string | null;
            lastStatusCode: number | null;
            maxAttempts: number;
            nextAttemptAt: string | null;
            /** @description The exact text of the body, in the format that the webhook has now. */
            payload: string;
            /** @enum {unknown} */
            status: "pending" | "delivered" | "failed";
            url: string;
            webhookId: string;
        };
        WebhookDeliveryPage: {
            deliveries: components["schemas"]["WebhookDelivery"][];
            nextCursor: string | null;
            page: number;
            pageSize: number;
            total: number;
        };
        WebhookPage: {
            nextCursor: string | null;
            webhooks: components["schemas"]["Webhook"][];
        };
        WebhookSecretRotation: {
            /** @default 86400 */
            graceSeconds: number;
        };
        WebhookTest: {
            deliveryId: string;
            eventId: string;
        };
        Workload: {
            agentId: string;
            allowReuse: boolean;
            audience: string;
            claims: {
                [key: string]: string;
            };
            /** Format: date-time */
            createdAt: string;
            id: string;
            issuer: string;
            jwksUri: string;
            maxTokenSeconds: number;
            subject: string;
            workloadId: string;
        };
        WorkloadPage: {
            nextCursor: string | null;
            workloads: components["schemas"]["Workload"][];
        };
    };
    responses: {
        /** @description `AGENT_INACTIVE`: The agent is suspended or revoked; resume it, or use another agent. */
        AgentInactive: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "AGENT_INACTIVE";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `CHALLENGE_INVALID`: The passkey challenge is unknown, used or expired; start again with a new one. `WEBAUTHN_VERIFICATION_FAILED`: The passkey response did not verify; `details.check` names the check that failed. */
        BadRequestOrChallengeInvalidOrWebauthnVerificationFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "CHALLENGE_INVALID" | "WEBAUTHN_VERIFICATION_FAILED";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `CHALLENGE_INVALID`: The passkey challenge is unknown, used or expired; start again with a new one. `WEBAUTHN_VERIFICATION_FAILED`: The passkey response did not verify; `details.check` names the check that failed. `WEBAUTHN_CLONE_SUSPECTED`: The passkey’s counter went backwards, as a copy’s would; use another passkey and remove this one. */
        BadRequestOrChallengeInvalidOrWebauthnVerificationFailedOrWebauthnCloneSuspected: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "CHALLENGE_INVALID" | "WEBAUTHN_VERIFICATION_FAILED" | "WEBAUTHN_CLONE_SUSPECTED";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `DISCOVERY_FAILED`: The metadata that the upstream publishes cannot be used; `details.step` and `details.reason` say why. */
        BadRequestOrDiscoveryFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "DISCOVERY_FAILED";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `FIDO_NOT_ENROLLED`: The principal has no passkey; enrol one first. */
        BadRequestOrFidoNotEnrolled: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "FIDO_NOT_ENROLLED";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `INVALID_GRANT`: The code, refresh token or parent token cannot be used; `details.reason` says why and what to do. */
        BadRequestOrInvalidGrant: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "INVALID_GRANT";
                    details?: {
                        reason?: components["schemas"]["InvalidGrantReason"] | string;
                    };
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `INVALID_MANIFEST`: The tool manifest is not valid; correct the fault `details.code` at `details.path`. */
        BadRequestOrInvalidManifest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "INVALID_MANIFEST";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `INVALID_REDIRECT_URI`: The redirect URI is not registered or not allowed; register it exactly as the request sends it. */
        BadRequestOrInvalidRedirectUri: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "INVALID_REDIRECT_URI";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `INVALID_SCOPE`: A scope is malformed or reaches further than it may; change the scopes that `details.scopes` lists. */
        BadRequestOrInvalidScope: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "INVALID_SCOPE";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `SSO_DOMAIN_REQUIRED`: More than one connection matches; send the domain of the person who signs in. */
        BadRequestOrSsoDomainRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "SSO_DOMAIN_REQUIRED";
                };
            };
        };
        /** @description `BAD_REQUEST`: The request is malformed or incomplete; correct what `details.fields` names. `TOKEN_EXPIRED`: The emailed link or code has expired; ask for a new one. */
        BadRequestOrTokenExpired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "BAD_REQUEST" | "TOKEN_EXPIRED";
                };
            };
        };
        /** @description `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "CONFLICT";
                };
            };
        };
        /** @description `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. `IDEMPOTENCY_CONFLICT`: Another request used this `Idempotency-Key`; send a new key. `IDEMPOTENCY_IN_PROGRESS`: The first request with this `Idempotency-Key` still runs; send it again after a second. */
        ConflictOrIdempotencyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS";
                };
            };
        };
        /** @description `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. `PRINCIPAL_INACTIVE`: The principal has been deprovisioned; ask their administrator to provision them again. */
        ConflictOrPrincipalInactive: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "CONFLICT" | "PRINCIPAL_INACTIVE";
                };
            };
        };
        /** @description `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. `PRINCIPAL_INACTIVE`: The principal has been deprovisioned; ask their administrator to provision them again. `IDEMPOTENCY_CONFLICT`: Another request used this `Idempotency-Key`; send a new key. `IDEMPOTENCY_IN_PROGRESS`: The first request with this `Idempotency-Key` still runs; send it again after a second. */
        ConflictOrPrincipalInactiveOrIdempotencyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "CONFLICT" | "PRINCIPAL_INACTIVE" | "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS";
                };
            };
        };
        /** @description `CONSENT_REQUIRED`: Only the principal may decide this request; send the principal to its consent page. `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        ConsentRequiredOrForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "CONSENT_REQUIRED" | "FORBIDDEN";
                };
            };
        };
        /** @description `CONSENT_REQUIRED`: Only the principal may decide this request; send the principal to its consent page. `PRINCIPAL_VERIFICATION_REQUIRED`: The principal has not proved their identity; use one of the ways in `details.methods`. `FIDO_REQUIRED`: The principal has to prove their identity with a passkey; ask for one and try again. `SSO_REQUIRED`: Single sign-on is required for this; begin it at `details.loginUrl`. `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        ConsentRequiredOrPrincipalVerificationRequiredOrFidoRequiredOrSsoRequiredOrForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "CONSENT_REQUIRED" | "PRINCIPAL_VERIFICATION_REQUIRED" | "FIDO_REQUIRED" | "SSO_REQUIRED" | "FORBIDDEN";
                };
            };
        };
        /** @description `EMAIL_TAKEN`: Another account has verified this address; use that account or another address. */
        EmailTaken: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "EMAIL_TAKEN";
                };
            };
        };
        /** @description `EXPORT_TOO_LARGE`: The export has too many rows for one document; use a streaming form or a shorter period. */
        ExportTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "EXPORT_TOO_LARGE";
                };
            };
        };
        /** @description `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "FORBIDDEN";
                };
            };
        };
        /** @description `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. `PROXY_DENIED`: The vault proxy does not pass this request on; see `details.reason`, and the rules of the service or the grant. */
        ForbiddenOrProxyDenied: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "FORBIDDEN" | "PROXY_DENIED";
                    details?: {
                        reason?: components["schemas"]["ProxyRefusalReason"] | string;
                    };
                };
            };
        };
        /** @description `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. `STEP_UP_REQUIRED`: The member has to use their passkey again for this, in the last `details.maxAgeSeconds`; do so and repeat the request. */
        ForbiddenOrStepUpRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "FORBIDDEN" | "STEP_UP_REQUIRED";
                };
            };
        };
        /** @description `GONE`: The request was decided, used or cancelled, or has expired; see `details.status`, and make a new request. */
        Gone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "GONE";
                };
            };
        };
        /** @description `GRANT_INACTIVE`: The grant is revoked or expired; ask for consent again. `AGENT_INACTIVE`: The agent is suspended or revoked; resume it, or use another agent. `IDEMPOTENCY_CONFLICT`: Another request used this `Idempotency-Key`; send a new key. `IDEMPOTENCY_IN_PROGRESS`: The first request with this `Idempotency-Key` still runs; send it again after a second. */
        GrantInactiveOrAgentInactiveOrIdempotencyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "GRANT_INACTIVE" | "AGENT_INACTIVE" | "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS";
                };
            };
        };
        /** @description Refused */
        Health: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Health"];
            };
        };
        /** @description `IDEMPOTENCY_CONFLICT`: Another request used this `Idempotency-Key`; send a new key. `IDEMPOTENCY_IN_PROGRESS`: The first request with this `Idempotency-Key` still runs; send it again after a second. */
        IdempotencyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS";
                };
            };
        };
        /** @description `INSUFFICIENT_BUDGET`: The debit is larger than `details.remaining`; spend less, or ask for a new budget. */
        InsufficientBudget: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "INSUFFICIENT_BUDGET";
                };
            };
        };
        /** @description `INTERNAL_ERROR`: The service failed unexpectedly; report the failure with its `requestId`. */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "INTERNAL_ERROR";
                };
            };
        };
        /** @description `INVALID_EXPIRY`: The lifetime is longer than the operator allows; ask for a shorter lifetime. */
        InvalidExpiry: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "INVALID_EXPIRY";
                };
            };
        };
        /** @description `KEY_STORE_READ_ONLY`: The signing keys come from the environment; change them in the settings. `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. */
        KeyStoreReadOnlyOrConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "KEY_STORE_READ_ONLY" | "CONFLICT";
                };
            };
        };
        /** @description `METHOD_NOT_ALLOWED`: The path does not accept this method; use one of `details.allow`. */
        MethodNotAllowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "METHOD_NOT_ALLOWED";
                };
            };
        };
        /** @description `NOT_FOUND`: The caller has no such record or path; check the path, the id and the owner of the credential. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "NOT_FOUND";
                };
            };
        };
        /** @description `NOT_SUPPORTED`: The service does not offer this option of the standard; leave it out. */
        NotSupported: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "NOT_SUPPORTED";
                };
            };
        };
        /** @description Refused */
        OAuthError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description `PAYLOAD_TOO_LARGE`: The body is larger than `details.limit` bytes; send less. */
        PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PAYLOAD_TOO_LARGE";
                };
            };
        };
        /** @description `PLAN_LIMIT_EXCEEDED`: The quota that `details.resource` names is used up; free a part of it, or change the plan. */
        PlanLimitExceeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PLAN_LIMIT_EXCEEDED";
                };
            };
        };
        /** @description `POLICY_DENIED`: A policy refused the request; change the request, or the policy if `details.policyId` names it. `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        PolicyDeniedOrForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "POLICY_DENIED" | "FORBIDDEN";
                };
            };
        };
        /** @description `PRINCIPAL_INACTIVE`: The principal has been deprovisioned; ask their administrator to provision them again. */
        PrincipalInactive: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PRINCIPAL_INACTIVE";
                };
            };
        };
        /** @description `PRINCIPAL_INACTIVE`: The principal has been deprovisioned; ask their administrator to provision them again. `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. */
        PrincipalInactiveOrConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PRINCIPAL_INACTIVE" | "CONFLICT";
                };
            };
        };
        /** @description `PRINCIPAL_INACTIVE`: The principal has been deprovisioned; ask their administrator to provision them again. `CONFLICT`: A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry. `IDEMPOTENCY_CONFLICT`: Another request used this `Idempotency-Key`; send a new key. `IDEMPOTENCY_IN_PROGRESS`: The first request with this `Idempotency-Key` still runs; send it again after a second. */
        PrincipalInactiveOrConflictOrIdempotencyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PRINCIPAL_INACTIVE" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS";
                };
            };
        };
        /** @description `PRINCIPAL_INACTIVE`: The principal has been deprovisioned; ask their administrator to provision them again. `IDEMPOTENCY_CONFLICT`: Another request used this `Idempotency-Key`; send a new key. `IDEMPOTENCY_IN_PROGRESS`: The first request with this `Idempotency-Key` still runs; send it again after a second. */
        PrincipalInactiveOrIdempotencyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PRINCIPAL_INACTIVE" | "IDEMPOTENCY_CONFLICT" | "IDEMPOTENCY_IN_PROGRESS";
                };
            };
        };
        /** @description `PRINCIPAL_VERIFICATION_REQUIRED`: The principal has not proved their identity; use one of the ways in `details.methods`. */
        PrincipalVerificationRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "PRINCIPAL_VERIFICATION_REQUIRED";
                };
            };
        };
        /** @description `RATE_LIMITED`: The caller sent too many requests; wait for the seconds of `Retry-After` and try again. */
        RateLimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "RATE_LIMITED";
                };
            };
        };
        /** @description `RATE_LIMITED`: The caller sent too many requests; wait for the seconds of `Retry-After` and try again. `TOO_MANY_CONNECTIONS`: The account uses all of its event streams; close a stream, or try again later. */
        RateLimitedOrTooManyConnections: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "RATE_LIMITED" | "TOO_MANY_CONNECTIONS";
                };
            };
        };
        /** @description `REAUTHORIZATION_REQUIRED`: The person has to connect the account again; make a connect session and send them its link. */
        ReauthorizationRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "REAUTHORIZATION_REQUIRED";
                };
            };
        };
        /** @description Refused */
        ScimError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ScimError"];
            };
        };
        /** @description `SERVICE_UNAVAILABLE`: The dependency that `details.dependency` names is down; try again later. */
        ServiceUnavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SERVICE_UNAVAILABLE";
                };
            };
        };
        /** @description `SERVICE_UNAVAILABLE`: The dependency that `details.dependency` names is down; try again later. `NOT_CONFIGURED`: The operator has not configured `details.setting`; ask the operator to set it. */
        ServiceUnavailableOrNotConfigured: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SERVICE_UNAVAILABLE" | "NOT_CONFIGURED";
                };
            };
        };
        /** @description Refused */
        SetError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SetError"];
            };
        };
        /** @description `SIGNUP_DISABLED`: The operator has closed sign-up; ask the operator for an account. */
        SignupDisabled: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SIGNUP_DISABLED";
                };
            };
        };
        /** @description `SSO_ACCOUNT_CONFLICT`: The person is linked to another identity, or the name is taken; ask an administrator to move the link. */
        SsoAccountConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SSO_ACCOUNT_CONFLICT";
                };
            };
        };
        /** @description `SSO_AUTH_FAILED`: The service refused the identity provider’s answer or the password; sign in again. */
        SsoAuthFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SSO_AUTH_FAILED";
                };
            };
        };
        /** @description `SSO_DOMAIN_NOT_ALLOWED`: The address is in no domain of this connection; sign in with an address of its domains. `SSO_USER_INACTIVE`: The person has been deactivated; ask their administrator to reactivate them. `SSO_NOT_PROVISIONED`: The service does not know the person yet; ask their administrator to provision them. */
        SsoDomainNotAllowedOrSsoUserInactiveOrSsoNotProvisioned: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SSO_DOMAIN_NOT_ALLOWED" | "SSO_USER_INACTIVE" | "SSO_NOT_PROVISIONED";
                };
            };
        };
        /** @description `SSO_DOMAIN_NOT_ALLOWED`: The address is in no domain of this connection; sign in with an address of its domains. `SSO_USER_INACTIVE`: The person has been deactivated; ask their administrator to reactivate them. `SSO_NOT_PROVISIONED`: The service does not know the person yet; ask their administrator to provision them. `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        SsoDomainNotAllowedOrSsoUserInactiveOrSsoNotProvisionedOrForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SSO_DOMAIN_NOT_ALLOWED" | "SSO_USER_INACTIVE" | "SSO_NOT_PROVISIONED" | "FORBIDDEN";
                };
            };
        };
        /** @description `SSO_ERROR`: The identity provider is unreachable or failed; try again later. */
        SsoError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SSO_ERROR";
                };
            };
        };
        /** @description `SSO_REQUIRED`: Single sign-on is required for this; begin it at `details.loginUrl`. `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        SsoRequiredOrForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "SSO_REQUIRED" | "FORBIDDEN";
                };
            };
        };
        /** @description `STEP_UP_REQUIRED`: The member has to use their passkey again for this, in the last `details.maxAgeSeconds`; do so and repeat the request. `FORBIDDEN`: The credential is valid, but not for this request; use a credential with the required role or scope. */
        StepUpRequiredOrForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "STEP_UP_REQUIRED" | "FORBIDDEN";
                };
            };
        };
        /** @description `UNAUTHORIZED`: The credential is missing, unknown, expired, revoked or of another kind; send a valid one. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "UNAUTHORIZED";
                };
            };
        };
        /** @description `UNSUPPORTED_MEDIA_TYPE`: The body is not JSON, or is compressed; send `Content-Type: application/json` uncompressed. */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "UNSUPPORTED_MEDIA_TYPE";
                };
            };
        };
        /** @description `UPSTREAM_ERROR`: The third party that `details.service` names failed; try again later. */
        UpstreamError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "UPSTREAM_ERROR";
                };
            };
        };
    };
    parameters: {
        AlertId: string;
        AnomaliesAgentId: string;
        AnomaliesCursor: string;
        AssertionsCursor: string;
        Attributes: string;
        BudgetsGrantId: string;
        CallId: string;
        CaseName: string;
        ClientId: string;
        ClientRuleId: string;
        ComplianceSince: string;
        ComplianceUntil: string;
        Connector: string;
        Count: string;
        DeliveryId: string;
        Domain: string;
        ExcludedAttributes: string;
        File: string;
        Filter: string;
        From: string;
        Id: string;
        /** @description Names the request: a repeat with the same key gets the first answer. */
        IdempotencyKey: string;
        LastEventId: string;
        Limit: number;
        ListId: string;
        LogId: string;
        Page: number;
        PageSize: number;
        Path: string;
        PrincipalsPrincipalId: string;
        ReturnTo: string;
        RuleId: string;
        ScimCursor: string;
        Service: string;
        Since: string;
        SortBy: string;
        SortOrder: string;
        StartIndex: string;
        StreamId: string;
        To: string;
        Token: string;
        Types: string;
        UiLocales: string;
        Until: string;
        VaultService: string;
        WebauthnCursor: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "agents.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                name?: string;
                status?: "active" | "suspended" | "revoked";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAgent"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentId": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "id": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "did": "did:web:auth.test:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "name": "Travel booker",
                     *       "description": "Books travel for its person.",
                     *       "scopes": [
                     *         "calendar:read"
                     *       ],
                     *       "status": "active",
                     *       "publicKeyJwk": {},
                     *       "origin": "api",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.revoke": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentId": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "id": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "did": "did:web:auth.test:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "name": "Travel booker",
                     *       "description": "Books travel for its person.",
                     *       "scopes": [
                     *         "calendar:read"
                     *       ],
                     *       "status": "active",
                     *       "publicKeyJwk": {},
                     *       "origin": "api",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.getClient": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthClient"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.putClient": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OAuthClientSettings"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthClient"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.deleteClient": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.offboarding": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OffboardingProof"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "workloads.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "workloads.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWorkload"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workload"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "workloads.remove": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
                workloadId: string;
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.list": {
        parameters: {
            query?: {
                cursor?: components["parameters"]["AnomaliesCursor"];
                limit?: components["parameters"]["Limit"];
                unacknowledged?: "true" | "false";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.acknowledge": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertNote"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Anomaly"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.detect": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyDetection"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.alerts": {
        parameters: {
            query?: {
                agentId?: components["parameters"]["AnomaliesAgentId"];
                cursor?: components["parameters"]["AnomaliesCursor"];
                limit?: number;
                severity?: "low" | "medium" | "high" | "critical";
                status?: "open" | "acknowledged" | "resolved";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.getAlert": {
        parameters: {
            query?: never;
            path: {
                alertId: components["parameters"]["AlertId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.acknowledgeAlert": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                alertId: components["parameters"]["AlertId"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertNote"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.resolveAlert": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                alertId: components["parameters"]["AlertId"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertNote"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.channels": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyChannelList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.createChannel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnomalyChannel"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyChannel"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.removeChannel": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.changeChannel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnomalyChannelChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "achan_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "type": "webhook",
                     *       "name": "Travel booker",
                     *       "config": {
                     *         "url": "https://auth.example.com/example",
                     *         "secret": "example-of-a-secret-0123456789abcdef",
                     *         "webhookUrl": "https://auth.example.com/example",
                     *         "to": [
                     *           "example"
                     *         ]
                     *       },
                     *       "severities": [
                     *         "low"
                     *       ],
                     *       "enabled": true,
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "unconfirmed": [
                     *         "example"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AnomalyChannel"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.testChannel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyChannelTest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.metrics": {
        parameters: {
            query?: {
                agentId?: components["parameters"]["AnomaliesAgentId"];
                window?: "1h" | "6h" | "24h" | "7d" | "30d";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyMetrics"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.showRecipient": {
        parameters: {
            query?: never;
            path: {
                token: components["parameters"]["Token"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecipientConfirmation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.confirmRecipient": {
        parameters: {
            query?: never;
            path: {
                token: components["parameters"]["Token"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecipientConfirmation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.rules": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyRuleList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.createRule": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnomalyRule"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyRule"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.removeRule": {
        parameters: {
            query?: never;
            path: {
                ruleId: components["parameters"]["RuleId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "anomalies.changeRule": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                ruleId: components["parameters"]["RuleId"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnomalyRuleChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyRule"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.setAbsence": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2026-01-15T09:30:00.000Z",
                 *       "until": "2026-01-16T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["ApproverAbsence"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.endAbsence": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.colleagues": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverColleagues"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.confirm": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.confirmSelf": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmApproverRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.decisions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                /** @description `pending`: the open requests, those that end next first. `ended`: all that wait no longer. All but `pending` are newest first. */
                status?: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired" | "ended";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverDecisionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.decision": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionForApprover"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.approve": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveDecisionRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproveDecisionResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.deny": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DenyDecisionRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DenyDecisionResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.approveOptions": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssertionOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.enrolOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrolmentOptionsRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolmentOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.enrol": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrolmentRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.events": {
        parameters: {
            query?: {
                /** @description For clients that cannot send the header `Last-Event-ID`, which takes precedence. */
                lastEventId?: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each event as it happens: its id, its type, and its envelope on one line of data */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.me": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.notifications": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverNotifications"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.turnOnNotifications": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBrowserSubscription"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserSubscription"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.turnOffNotifications": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.passkeys": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverPasskeyList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.removePasskey": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.passkeyOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverSignInOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.addPasskey": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApproverPasskey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverPasskey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.cancelRecovery": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.session": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.signOut": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.signInOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverSignInOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approver.signIn": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproverSignInRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approvers.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approvers.invite": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApprover"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproverInvitation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approvers.remove": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approvers.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproverChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approvers.setAbsence": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproverAbsence"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "approvers.endAbsence": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entryId": "alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "id": "alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "seq": 1,
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "agentId": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "agentDid": "example",
                     *       "grantId": "grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "principalId": "user_42",
                     *       "action": "flight.booked",
                     *       "status": "success",
                     *       "metadata": {},
                     *       "purpose": "payments.payout",
                     *       "timestamp": "2026-01-15T09:30:00.000Z",
                     *       "prevHash": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                     *       "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *       "salt": "example",
                     *       "source": "service",
                     *       "requestId": "req_7b1c",
                     *       "erased": true,
                     *       "actorName": "example",
                     *       "actorEmail": "example"
                     *     }
                     */
                    "application/json": components["schemas"]["AuditEntry"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.explain": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.list": {
        parameters: {
            query?: {
                action?: string;
                actor?: string;
                agentId?: string;
                cursor?: string;
                denial?: "token_invalid" | "token_invalid/malformed_authorization_details" | "grant_revoked/revoked" | "grant_revoked/suspended" | "grant_revoked/parent_revoked" | "grant_revoked/status_unavailable" | "manifest_unknown_tool/unknown_connector" | "manifest_unknown_tool/unknown_tool" | "manifest_unknown_tool/manifest_changed" | "manifest_unknown_tool/tool_changed" | "manifest_unknown_tool/tool_ambiguous" | "tool_not_granted" | "tool_not_granted/not_in_authorization_details" | "tool_not_granted/argument_unreadable" | "tool_not_granted/policy_denied" | "tool_not_granted/tool_scope_missing" | "permission_insufficient" | "region_mismatch" | "purpose_not_allowed/missing" | "purpose_not_allowed/unknown_purpose" | "purpose_not_allowed/not_matched" | "decision_required" | "decision_required/malformed" | "decision_required/unknown_grant" | "decision_required/wrong_agent" | "decision_required/wrong_case" | "decision_required/case_changed" | "decision_required/action_mismatch" | "decision_required/expired" | "decision_required/four_eyes_incomplete" | "decision_required/same_approver" | "decision_required/spliced" | "decision_required/consumed" | "decision_required/revoked" | "decision_required/consume_unavailable" | "case_required" | "cap_exceeded/limit_reached" | "cap_exceeded/meter_unavailable" | "cap_exceeded/invalid_case_id" | "cap_exceeded/invalid_cost_component" | "cap_exceeded/amount_missing" | "cap_exceeded/invalid_amount" | "cap_exceeded/malformed_cap" | "cap_exceeded/amount_cap" | "tool_not_granted/argument_missing" | "tool_not_granted/argument_not_allowed";
                grantId?: string;
                limit?: components["parameters"]["Limit"];
                order?: "asc" | "desc";
                principalId?: string;
                purpose?: string;
                requestId?: string;
                since?: components["parameters"]["Since"];
                source?: "service" | "developer";
                status?: "success" | "failure" | "blocked";
                until?: components["parameters"]["Until"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.erase": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewErasure"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedErasure"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.getErasure": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.head": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditChainHead"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.append": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAuditEntry"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntry"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.verify": {
        parameters: {
            query?: {
                fromSeq?: number;
                toSeq?: number;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditChainVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.list": {
        parameters: {
            query?: {
                agentId?: string;
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                principalId?: string;
                since?: components["parameters"]["Since"];
                status?: components["schemas"]["AuthorizationRequestStatus"];
                until?: components["parameters"]["Until"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.request": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuthorizationInput"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedAuthorizationRequest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationRequest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.cancel": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.approve": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxDecision"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.code": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationCode"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.deny": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxDecision"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "authorization.link": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentLink"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "billing.checkout": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckoutRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckoutSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "billing.portal": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PortalRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "billing.subscription": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "billing.webhook": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingEventReceipt"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.allocate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBudgetAllocation"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetAllocation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                status?: "active" | "exhausted" | "closed";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetAllocationPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.balance": {
        parameters: {
            query?: never;
            path: {
                grantId: components["parameters"]["BudgetsGrantId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetAllocation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.debit": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetDebitRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetDebit"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.refund": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetRefundRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetRefund"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.transactions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: components["parameters"]["Page"];
                pageSize?: components["parameters"]["PageSize"];
            };
            path: {
                grantId: components["parameters"]["BudgetsGrantId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetTransactionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetLedgerCheck"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "changes.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                status?: "open";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "changes.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LooseningChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "changes.withdraw": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "changes.approve": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeApproval"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LooseningChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.evidencePack": {
        parameters: {
            query?: {
                agentId?: string;
                caseId?: string;
                format?: "json" | "zip";
                framework?: "soc2" | "gdpr" | "all";
                principalId?: string;
                since?: components["parameters"]["ComplianceSince"];
                until?: components["parameters"]["ComplianceUntil"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The members stand in this order, each in its canonical form (RFC 8785). An archive (`format=zip`) has `pack.json`, `chain.json`, `report.html`, `jwks.json` and the signed `manifest.json`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvidencePack"];
                    "application/zip": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.exportAudit": {
        parameters: {
            query?: {
                action?: string;
                agentId?: string;
                format?: "json" | "ndjson" | "csv" | "ocsf";
                grantId?: string;
                principalId?: string;
                since?: components["parameters"]["ComplianceSince"];
                status?: "success" | "failure" | "blocked";
                until?: components["parameters"]["ComplianceUntil"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The audit entries in the order of the chain. As `application/x-ndjson`, one a line, and last `{"type":"end","total":…,"sha256":…}`, whose hash is that of all bytes before that line. With `format=ocsf`, each line is an event of OCSF 1.6.0, and no other line follows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditExport"];
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.exportGrants": {
        parameters: {
            query?: {
                agentId?: string;
                format?: "json" | "ndjson" | "csv";
                principalId?: string;
                since?: components["parameters"]["ComplianceSince"];
                status?: "active" | "revoked" | "expired";
                until?: components["parameters"]["ComplianceUntil"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The grants, newest first. As `application/x-ndjson`, one a line, and last `{"type":"end","total":…,"sha256":…}`, whose hash is that of all bytes before that line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantExport"];
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.exportPrincipal": {
        parameters: {
            query: {
                principalId: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The records, each with its `type`. As `application/x-ndjson`, one a line, and last `{"type":"end","total":…,"sha256":…}`, whose hash is that of all bytes before that line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.listHolds": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                standing?: "true";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LegalHoldPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.placeHold": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewLegalHold"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LegalHold"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.releaseHold": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "hold_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "name": "Travel booker",
                     *       "reason": "The person asked for it.",
                     *       "principalId": "user_42",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "releasedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["LegalHold"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "compliance.summary": {
        parameters: {
            query?: {
                since?: components["parameters"]["ComplianceSince"];
                until?: components["parameters"]["ComplianceUntil"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComplianceSummary"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.show": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectPageState"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.abandon": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedConnections"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.confirm": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectConfirmation"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedConnections"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.sendCode": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectCodeSent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.checkCode": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectCodeCheck"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectVerified"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.hint": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectHint"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectVerified"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.passkeyOptions": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssertionOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.passkeyVerify": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Assertion"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectVerified"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.open": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenConnectPage"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedConnectPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.signOn": {
        parameters: {
            query?: {
                ui_locales?: components["parameters"]["UiLocales"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectRedirect"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.start": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectStart"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectRedirect"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.show": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentRequest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.approve": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentApproval"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentApprovalResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.deny": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentDenial"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentDenialResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.sendCode": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentEmailCode"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.checkCode": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailCodeCheck"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailCodeResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.passkeyOptions": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentPasskeyRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssertionOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.passkeyVerify": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Assertion"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.openPermissions": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPrincipalSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.open": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentSessionRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentSessionResponse"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "consent.signOn": {
        parameters: {
            query?: {
                ui_locales?: components["parameters"]["UiLocales"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignOnRedirect"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.joinOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinOptionsRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.join": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinedConsole"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.passkeys": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPasskeyList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.addPasskey": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMemberPasskey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedMemberPasskey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.removePasskey": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.passkeyOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.makeRecoveryCodes": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.session": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.signOut": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.signInByKey": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInByKey"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.openLink": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenConsoleLink"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.createLink": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConsoleLink"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleLink"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.signInOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.signIn": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyAnswer"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.recover": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverByCode"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.beginSignOn": {
        parameters: {
            query?: {
                /** @description A domain that the account has verified. */
                domain?: string;
                /** @description The id of the account. */
                org?: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.signOn": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.stepUpOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.stepUp": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyAnswer"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.sessions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "console.revokeSession": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.list": {
        parameters: {
            query?: {
                cursor?: string;
                grantId?: string;
                limit?: components["parameters"]["Limit"];
                principalId?: string;
                status?: "active" | "revoked" | "expired";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifiableCredentialPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.issue": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVerifiableCredential"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifiableCredential"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "vc_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "grantId": "grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "principalId": "user_42",
                     *       "agentDid": "example",
                     *       "credentialType": "example",
                     *       "format": "vc-jwt",
                     *       "credential": "example",
                     *       "credentialJwt": "example-of-a-secret-0123456789abcdef",
                     *       "status": "active",
                     *       "statusListIdx": 1,
                     *       "statusListId": "example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "issuedAt": "2026-01-15T09:30:00.000Z",
                     *       "expiresAt": "2026-01-16T09:30:00.000Z",
                     *       "revokedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["VerifiableCredential"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevokeCredentialRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialRevocation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.present": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyPresentationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PresentationVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.statusList": {
        parameters: {
            query?: {
                profile?: "2021";
            };
            path: {
                listId: components["parameters"]["ListId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusListCredential"];
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyCredentialRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.listChannels": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionChannelList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.addChannel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDecisionChannel"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionChannel"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.removeChannel": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.list": {
        parameters: {
            query?: {
                agentId?: string;
                caseId?: string;
                cursor?: string;
                grantId?: string;
                limit?: components["parameters"]["Limit"];
                status?: "pending" | "approved" | "consumed" | "denied" | "cancelled" | "superseded" | "expired";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.request": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDecision"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.cancel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.grants": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionGrantsRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionGrantsResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.setCaseVersion": {
        parameters: {
            query?: never;
            path: {
                caseName: components["parameters"]["CaseName"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDecisionCase"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionCase"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.closeCase": {
        parameters: {
            query?: never;
            path: {
                caseName: components["parameters"]["CaseName"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "decisions.consume": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsumeDecisionRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsumeDecisionResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.enterCode": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserCodeEntry"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserRedirect"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.codeBrand": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserCodeQuestion"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingBrand"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "dids.resolve": {
        parameters: {
            query?: never;
            path: {
                did: string;
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DidResolution"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "domains.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "domains.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDomain"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedDomain"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "domains.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Domain"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "domains.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "domains.verify": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifiedDomain"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "enforcement.enforce": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnforceRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnforceResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "enforcement.refund": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                callId: components["parameters"]["CallId"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "enforcement.sent": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                callId: components["parameters"]["CallId"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "enforcement.listTools": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ListToolsRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListToolsResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "enforcement.usage": {
        parameters: {
            query: {
                caseId?: string;
                connector: string;
                grantId: string;
                tool: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolUsage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "events.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                since?: components["parameters"]["Since"];
                types?: components["parameters"]["Types"];
                until?: components["parameters"]["Until"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "events.stream": {
        parameters: {
            query?: {
                /** @description Counts the stream among those of verifiers, of which an account may have 50. */
                for?: "verifier";
                format?: "sse" | "ndjson" | "ocsf";
                lastEventId?: components["parameters"]["LastEventId"];
                types?: components["parameters"]["Types"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each event as it happens: its id, its type, and its envelope on one line of data */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/event-stream": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "events.socket": {
        parameters: {
            query?: {
                lastEventId?: components["parameters"]["LastEventId"];
                types?: components["parameters"]["Types"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each message is the envelope of an event. The client may send `{"types":["grant.*"]}` to choose the events that follow. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.list": {
        parameters: {
            query?: {
                agentId?: string;
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                parentGrantId?: string;
                principalId?: string;
                purpose?: string;
                rootGrantId?: string;
                since?: components["parameters"]["Since"];
                status?: "active" | "revoked" | "expired";
                until?: components["parameters"]["Until"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.revoke": {
        parameters: {
            query?: {
                reason?: string;
                /** @description Answer 200 with a signed statement, once every verifier has confirmed or has no lease. */
                wait?: "confirmed";
                /** @description With `wait`: the longest wait. The statement then says who has not confirmed. */
                waitSeconds?: number;
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevocationStatement"];
                };
            };
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.receipt": {
        parameters: {
            query?: {
                format?: "json" | "html";
                since?: components["parameters"]["Since"];
                until?: components["parameters"]["Until"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description With `format=html`, a page that checks the receipt inside it and says in words what it proves. It needs no network. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                    "text/html": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.revocation": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevocationStatement"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.tokens": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.delegate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DelegationRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DelegatedTokens"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.verify": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyGrantRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "insights.denials": {
        parameters: {
            query: {
                from: components["parameters"]["From"];
                to: components["parameters"]["To"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Denials"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "insights.series": {
        parameters: {
            query: {
                from: components["parameters"]["From"];
                metric: "verifications" | "denials" | "grants" | "revocations" | "decisions";
                step?: "hour" | "day";
                to: components["parameters"]["To"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Series"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "apiKeys.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "apiKeys.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "apiKeys.revoke": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "apiKeys.rotate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateApiKey"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedApiKey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "manifests.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManifestPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "manifests.get": {
        parameters: {
            query?: never;
            path: {
                connector: components["parameters"]["Connector"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectorManifest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "manifests.put": {
        parameters: {
            query?: never;
            path: {
                connector: components["parameters"]["Connector"];
            };
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "$schema": "https://behest.dev/schemas/manifest-0.6.json",
                 *       "connector": "acme_mail",
                 *       "tools": {
                 *         "list_mail": "read",
                 *         "send_mail": {
                 *           "permission": "write",
                 *           "caps": {
                 *             "per_day": 100
                 *           }
                 *         },
                 *         "wipe_mail": {
                 *           "permission": "write",
                 *           "requires_decision": true
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManifestWithWarnings"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManifestWithWarnings"];
                };
            };
            /** @description Nothing has changed. A second member of the account has to agree. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "manifests.remove": {
        parameters: {
            query?: never;
            path: {
                connector: components["parameters"]["Connector"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "manifests.replay": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                connector: components["parameters"]["Connector"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ManifestReplayRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManifestReplay"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "manifests.versions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            path: {
                connector: components["parameters"]["Connector"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManifestVersionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.me": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Developer"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeveloperChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdatedDeveloper"];
                };
            };
            /** @description Nothing has changed. A second member of the account has to agree. */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.branding": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branding"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.removeBranding": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.changeBranding": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrandingChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branding"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.previewBranding": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrandingChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrandingPreview"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.close": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CloseAccount"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClosedAccount"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.resume": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountStop"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.stop": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StopAccount"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountStop"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.list": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.remove": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.change": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.invitations": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.invite": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeInvitation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.revokeInvitation": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.arrive": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResumeAuthorizationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserRedirect"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.signInBrand": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeySignInRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingBrand"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.signInOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeySignInRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeySignInOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "oauth.signIn": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeySignIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserRedirect"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "passports.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Passport"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "passports.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassportRevocation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "passports.issue": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPassport"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedPassport"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "passports.list": {
        parameters: {
            query?: {
                agentId?: string;
                cursor?: string;
                grantId?: string;
                status?: "active" | "revoked" | "expired";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassportList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "passports.verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyPassportRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassportVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPolicy"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyWithWarnings"];
                };
            };
            /** @description Nothing has changed. A second member of the account has to agree. */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyRecord"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description Nothing has changed. A second member of the account has to agree. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "pol_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "name": "Travel booker",
                     *       "effect": "deny",
                     *       "priority": 1,
                     *       "agentId": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "principalId": "user_42",
                     *       "scopes": [
                     *         "calendar:read"
                     *       ],
                     *       "timeOfDayStart": "example",
                     *       "timeOfDayEnd": "example",
                     *       "timeZone": "example",
                     *       "daysOfWeek": [
                     *         "example"
                     *       ],
                     *       "purposes": [
                     *         "example"
                     *       ],
                     *       "networks": [
                     *         "example"
                     *       ],
                     *       "delegationDepthMin": 1,
                     *       "delegationDepthMax": 1,
                     *       "connector": "acme_mail",
                     *       "tools": [
                     *         "send_mail"
                     *       ],
                     *       "arguments": {},
                     *       "version": 1,
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z",
                     *       "warnings": [
                     *         {
                     *           "kind": "never_matches",
                     *           "policyIds": [
                     *             "example"
                     *           ],
                     *           "message": "example",
                     *           "example": {
                     *             "agentId": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *             "principalId": "user_42",
                     *             "scopes": [
                     *               "calendar:read"
                     *             ],
                     *             "at": "2026-01-15T09:30:00.000Z",
                     *             "purpose": "payments.payout",
                     *             "address": "example",
                     *             "delegationDepth": 1,
                     *             "connector": "acme_mail",
                     *             "tool": "send_mail"
                     *           },
                     *           "decidedBy": "example"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyWithWarnings"];
                };
            };
            /** @description Nothing has changed. A second member of the account has to agree. */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.versions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyVersionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.list": {
        parameters: {
            query?: {
                cursor?: string;
                format?: "rego" | "cedar";
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyBundlePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.activate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "pbnd_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "format": "rego",
                     *       "version": "1.0.0",
                     *       "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *       "fileCount": 1,
                     *       "active": true,
                     *       "createdAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyBundle"];
                };
            };
            /** @description Nothing has changed. A second member of the account has to agree. */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.content": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description The bytes of the bundle, with their digest as `ETag` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.active": {
        parameters: {
            query: {
                format: "rego" | "cedar";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyBundle"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.evaluate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyEvaluationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyEvaluation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policies.replay": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyReplayRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyReplay"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.sync": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPolicyBundle"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyBundleSync"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyBundleSync"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.rotateSecret": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicySyncSecret"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "policyBundles.push": {
        parameters: {
            query?: {
                dev?: string;
            };
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyPushReceipt"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.removeAddress": {
        parameters: {
            query?: never;
            path: {
                id: string;
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.openSession": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPrincipalSession"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPrincipalSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.address": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnAddress"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.removeOwnAddress": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.audit": {
        parameters: {
            query?: {
                cursor?: string;
                grantId?: string;
                limit?: number;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnEntryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.own": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnConnectionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.askAsPerson": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskByAgent"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedConnectSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.disconnect": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.grants": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                status?: "active" | "all";
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnGrantPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.revokeAll": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedGrants"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.revoke": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.receipt": {
        parameters: {
            query?: {
                format?: "json" | "html";
                since?: components["parameters"]["Since"];
                until?: components["parameters"]["Until"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description With `format=html`, a page that checks the receipt inside it and says in words what it proves. It needs no network. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                    "text/html": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.own": {
        parameters: {
            query?: {
                cursor?: components["parameters"]["WebauthnCursor"];
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnPasskeyPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.removeOwn": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.endSession": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.useLink": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInLink"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPrincipalSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.sendLink": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInLinkRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentSignInLink"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.signInOptions": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeySignInOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.signIn": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Assertion"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPrincipalSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.ownStops": {
        parameters: {
            query?: {
                cursor?: components["parameters"]["AssertionsCursor"];
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssertionStopPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.liftOwnStop": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                query?: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrincipalPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.get": {
        parameters: {
            query?: never;
            path: {
                principalId: components["parameters"]["PrincipalsPrincipalId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrincipalSummary"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.offboard": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                principalId: components["parameters"]["PrincipalsPrincipalId"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OffboardInput"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offboarding"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.offboarding": {
        parameters: {
            query?: never;
            path: {
                principalId: components["parameters"]["PrincipalsPrincipalId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OffboardingProof"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "principals.admit": {
        parameters: {
            query?: never;
            path: {
                principalId: components["parameters"]["PrincipalsPrincipalId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "requests.list": {
        parameters: {
            query?: {
                agentId?: string;
                code?: string;
                cursor?: string;
                keyId?: string;
                limit?: components["parameters"]["Limit"];
                operationId?: string;
                since?: components["parameters"]["Since"];
                status?: number;
                until?: components["parameters"]["Until"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedRequestPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "requests.get": {
        parameters: {
            query?: never;
            path: {
                requestId: string;
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedRequest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "requests.groups": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedRequestGroups"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "resources.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourcePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "resources.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewResource"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedResource"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "resources.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Resource"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "resources.remove": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "resources.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResourceChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Resource"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "scimTokens.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScimTokenPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "scimTokens.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewScimToken"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedScimToken"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "scimTokens.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "search.find": {
        parameters: {
            query: {
                q: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResults"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "developers.signUp": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignUp"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedDeveloper"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "emails.sendLink": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyEmail"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentEmailVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "emails.showLink": {
        parameters: {
            query?: never;
            path: {
                token: components["parameters"]["Token"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailVerificationLink"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "emails.verify": {
        parameters: {
            query?: never;
            path: {
                token: components["parameters"]["Token"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifiedEmail"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiverPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReceiver"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedReceiver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiverChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.deliveries": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                status?: "pending" | "delivered" | "failed";
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetDeliveryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.rotateSecret": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiverRotation"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedReceiverSecret"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "ssfReceivers.streams": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiverStreamList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.getConfig": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LegacySsoConfig"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.putConfig": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LegacySsoConfigInput"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LegacySsoConfig"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.deleteConfig": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.listConnections": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoConnectionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.addConnection": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSsoConnection"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoConnection"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.getConnection": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sso_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "name": "Travel booker",
                     *       "protocol": "oidc",
                     *       "status": "active",
                     *       "issuerUrl": "https://auth.example.com/example",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "redirectUris": [
                     *         "https://app.acme.example/callback"
                     *       ],
                     *       "idpEntityId": "example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "idpSsoUrl": "https://auth.example.com/example",
                     *       "spEntityId": "example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "spAcsUrl": "https://auth.example.com/example",
                     *       "idpCertificates": [
                     *         {
                     *           "fingerprintSha256": "example",
                     *           "notAfter": "2026-01-15T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "ldapUrl": "https://auth.example.com/example",
                     *       "ldapBindDn": "example",
                     *       "ldapSearchBase": "example",
                     *       "ldapSearchFilter": "example",
                     *       "ldapGroupSearchBase": "example",
                     *       "ldapGroupSearchFilter": "example",
                     *       "ldapTlsEnabled": true,
                     *       "domains": [
                     *         "acme.example"
                     *       ],
                     *       "jitProvisioning": true,
                     *       "enforce": true,
                     *       "scimManaged": true,
                     *       "emailAttribute": "example",
                     *       "nameAttribute": "example",
                     *       "groupAttribute": "example",
                     *       "groupMappings": {
                     *         "example": [
                     *           "example"
                     *         ]
                     *       },
                     *       "defaultScopes": [
                     *         "calendar:read"
                     *       ],
                     *       "consoleAccess": true,
                     *       "consoleGroupMappings": {
                     *         "example": "admin"
                     *       },
                     *       "lastTestedAt": "2026-01-15T09:30:00.000Z",
                     *       "lastLoginAt": "2026-01-15T09:30:00.000Z",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SsoConnection"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.deleteConnection": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.changeConnection": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SsoConnectionChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sso_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "developerId": "dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "name": "Travel booker",
                     *       "protocol": "oidc",
                     *       "status": "active",
                     *       "issuerUrl": "https://auth.example.com/example",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "redirectUris": [
                     *         "https://app.acme.example/callback"
                     *       ],
                     *       "idpEntityId": "example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "idpSsoUrl": "https://auth.example.com/example",
                     *       "spEntityId": "example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "spAcsUrl": "https://auth.example.com/example",
                     *       "idpCertificates": [
                     *         {
                     *           "fingerprintSha256": "example",
                     *           "notAfter": "2026-01-15T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "ldapUrl": "https://auth.example.com/example",
                     *       "ldapBindDn": "example",
                     *       "ldapSearchBase": "example",
                     *       "ldapSearchFilter": "example",
                     *       "ldapGroupSearchBase": "example",
                     *       "ldapGroupSearchFilter": "example",
                     *       "ldapTlsEnabled": true,
                     *       "domains": [
                     *         "acme.example"
                     *       ],
                     *       "jitProvisioning": true,
                     *       "enforce": true,
                     *       "scimManaged": true,
                     *       "emailAttribute": "example",
                     *       "nameAttribute": "example",
                     *       "groupAttribute": "example",
                     *       "groupMappings": {
                     *         "example": [
                     *           "example"
                     *         ]
                     *       },
                     *       "defaultScopes": [
                     *         "calendar:read"
                     *       ],
                     *       "consoleAccess": true,
                     *       "consoleGroupMappings": {
                     *         "example": "admin"
                     *       },
                     *       "lastTestedAt": "2026-01-15T09:30:00.000Z",
                     *       "lastLoginAt": "2026-01-15T09:30:00.000Z",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SsoConnection"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.listClients": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdJagClientRulePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.addClient": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewIdJagClientRule"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdJagClientRule"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.getClient": {
        parameters: {
            query?: never;
            path: {
                clientRuleId: components["parameters"]["ClientRuleId"];
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdJagClientRule"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.removeClient": {
        parameters: {
            query?: never;
            path: {
                clientRuleId: components["parameters"]["ClientRuleId"];
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.changeClient": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                clientRuleId: components["parameters"]["ClientRuleId"];
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdJagClientRuleChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdJagClientRule"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdJagTrust"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.put": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewIdJagTrust"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdJagTrust"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.listIdentities": {
        parameters: {
            query: {
                principalId: string;
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoIdentities"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.moveIdentity": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SsoIdentityMove"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoIdentity"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "signals.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoSignals"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "signals.put": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetSsoSignals"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSsoSignals"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "signals.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.testConnection": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoTest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.enforce": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SsoEnforcementChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoEnforcement"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.listStops": {
        parameters: {
            query?: {
                cursor?: components["parameters"]["AssertionsCursor"];
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssertionStopPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "assertions.liftStop": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.readMetadata": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SamlMetadataSource"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SamlMetadata"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.listSessions": {
        parameters: {
            query?: {
                connectionId?: string;
                cursor?: string;
                limit?: components["parameters"]["Limit"];
                principalId?: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoSessionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "sso.revokeSession": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "setup.listLinks": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetupLinkPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "setup.createLink": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSetupLink"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSetupLink"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "setup.revokeLink": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiableCredentials.tokenStatusList": {
        parameters: {
            query?: {
                time?: string;
            };
            path: {
                listId: components["parameters"]["ListId"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example example */
                    "application/json": string;
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "grants.previewStop": {
        parameters: {
            query?: {
                agentId?: string;
                grantId?: string;
                principalId?: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopPreview"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.exchange": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeExchange"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangedTokens"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.refresh": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshTokenRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedTokens"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.introspect": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntrospectTokenRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenIntrospection"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevokeTokenRequest"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.verify": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyTokenRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "transparency.get": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransparencyState"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "transparency.consistency": {
        parameters: {
            query: {
                from: number;
                to?: number;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogConsistency"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "transparency.inclusion": {
        parameters: {
            query?: {
                entryId?: string;
                seq?: number;
                treeSize?: number;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description With `Accept: text/plain` a `c2sp.org/tlog-proof@v1`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogInclusion"];
                    "text/plain": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.get": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.history": {
        parameters: {
            query?: {
                days?: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageHistory"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.ask": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConnectSession"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedConnectSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.cancel": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: components["parameters"]["Page"];
                pageSize?: components["parameters"]["PageSize"];
                principalId?: string;
                service?: components["parameters"]["VaultService"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultCredentialPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.store": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVaultCredential"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredCredential"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultCredential"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.askAsAgent": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskByAgent"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedConnectSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "connections.getAsAgent": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "example",
                     *       "connectSessionId": "conn_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "providerId": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "service": "github",
                     *       "principalId": "user_42",
                     *       "agentId": "ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "scopes": [
                     *         "calendar:read"
                     *       ],
                     *       "status": "pending",
                     *       "reason": "The person asked for it.",
                     *       "credentialId": "vault_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "expiresAt": "2026-01-16T09:30:00.000Z",
                     *       "decidedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ConnectSession"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.exchange": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialExchange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangedCredential"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.presets": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderPresets"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProvider"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Provider"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "providerId": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "service": "github",
                     *       "name": "Travel booker",
                     *       "kind": "oidc",
                     *       "preset": "example",
                     *       "issuer": "https://auth.example.com",
                     *       "mcpUrl": "https://auth.example.com/example",
                     *       "authorizationEndpoint": "https://auth.example.com/example",
                     *       "tokenEndpoint": "https://auth.example.com/example",
                     *       "revocationEndpoint": "https://auth.example.com/example",
                     *       "userinfoEndpoint": "https://auth.example.com/example",
                     *       "parEndpoint": "https://auth.example.com/example",
                     *       "jwksUri": "https://auth.example.com/example",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "clientSource": "static",
                     *       "hasClientSecret": true,
                     *       "authMethod": "client_secret_basic",
                     *       "scopes": {
                     *         "required": [
                     *           "example"
                     *         ],
                     *         "optional": [
                     *           "example"
                     *         ]
                     *       },
                     *       "acceptPartial": true,
                     *       "pkce": "required",
                     *       "authorizeParams": {
                     *         "example": "example"
                     *       },
                     *       "account": {
                     *         "source": "id_token",
                     *         "id": "/example",
                     *         "label": "/example"
                     *       },
                     *       "scopeSeparator": "example",
                     *       "tokenPointers": {},
                     *       "tokenLifetimeSeconds": 1,
                     *       "redirectUri": "https://app.acme.example/callback",
                     *       "status": "active",
                     *       "lastDiscoveredAt": "2026-01-15T09:30:00.000Z",
                     *       "lastError": "example",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Provider"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "providerId": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "service": "github",
                     *       "name": "Travel booker",
                     *       "kind": "oidc",
                     *       "preset": "example",
                     *       "issuer": "https://auth.example.com",
                     *       "mcpUrl": "https://auth.example.com/example",
                     *       "authorizationEndpoint": "https://auth.example.com/example",
                     *       "tokenEndpoint": "https://auth.example.com/example",
                     *       "revocationEndpoint": "https://auth.example.com/example",
                     *       "userinfoEndpoint": "https://auth.example.com/example",
                     *       "parEndpoint": "https://auth.example.com/example",
                     *       "jwksUri": "https://auth.example.com/example",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "clientSource": "static",
                     *       "hasClientSecret": true,
                     *       "authMethod": "client_secret_basic",
                     *       "scopes": {
                     *         "required": [
                     *           "example"
                     *         ],
                     *         "optional": [
                     *           "example"
                     *         ]
                     *       },
                     *       "acceptPartial": true,
                     *       "pkce": "required",
                     *       "authorizeParams": {
                     *         "example": "example"
                     *       },
                     *       "account": {
                     *         "source": "id_token",
                     *         "id": "/example",
                     *         "label": "/example"
                     *       },
                     *       "scopeSeparator": "example",
                     *       "tokenPointers": {},
                     *       "tokenLifetimeSeconds": 1,
                     *       "redirectUri": "https://app.acme.example/callback",
                     *       "status": "active",
                     *       "lastDiscoveredAt": "2026-01-15T09:30:00.000Z",
                     *       "lastError": "example",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Provider"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "providers.discover": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "providerId": "prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C",
                     *       "service": "github",
                     *       "name": "Travel booker",
                     *       "kind": "oidc",
                     *       "preset": "example",
                     *       "issuer": "https://auth.example.com",
                     *       "mcpUrl": "https://auth.example.com/example",
                     *       "authorizationEndpoint": "https://auth.example.com/example",
                     *       "tokenEndpoint": "https://auth.example.com/example",
                     *       "revocationEndpoint": "https://auth.example.com/example",
                     *       "userinfoEndpoint": "https://auth.example.com/example",
                     *       "parEndpoint": "https://auth.example.com/example",
                     *       "jwksUri": "https://auth.example.com/example",
                     *       "clientId": "https://client.example/metadata.json",
                     *       "clientSource": "static",
                     *       "hasClientSecret": true,
                     *       "authMethod": "client_secret_basic",
                     *       "scopes": {
                     *         "required": [
                     *           "example"
                     *         ],
                     *         "optional": [
                     *           "example"
                     *         ]
                     *       },
                     *       "acceptPartial": true,
                     *       "pkce": "required",
                     *       "authorizeParams": {
                     *         "example": "example"
                     *       },
                     *       "account": {
                     *         "source": "id_token",
                     *         "id": "/example",
                     *         "label": "/example"
                     *       },
                     *       "scopeSeparator": "example",
                     *       "tokenPointers": {},
                     *       "tokenLifetimeSeconds": 1,
                     *       "redirectUri": "https://app.acme.example/callback",
                     *       "status": "active",
                     *       "lastDiscoveredAt": "2026-01-15T09:30:00.000Z",
                     *       "lastError": "example",
                     *       "createdAt": "2026-01-15T09:30:00.000Z",
                     *       "updatedAt": "2026-01-15T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Provider"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.listProxyProfiles": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProxyProfilePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.getProxyProfile": {
        parameters: {
            query?: never;
            path: {
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProxyProfile"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.putProxyProfile": {
        parameters: {
            query?: never;
            path: {
                service: components["parameters"]["Service"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProxyProfile"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProxyProfile"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.deleteProxyProfile": {
        parameters: {
            query?: never;
            path: {
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.proxyGet": {
        parameters: {
            query?: never;
            path: {
                path: components["parameters"]["Path"];
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description The upstream's answer, with its own status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": unknown;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.proxyPut": {
        parameters: {
            query?: never;
            path: {
                path: components["parameters"]["Path"];
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description The upstream's answer, with its own status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": unknown;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.proxyPost": {
        parameters: {
            query?: never;
            path: {
                path: components["parameters"]["Path"];
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description The upstream's answer, with its own status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": unknown;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.proxyDelete": {
        parameters: {
            query?: never;
            path: {
                path: components["parameters"]["Path"];
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description The upstream's answer, with its own status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": unknown;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.proxyPatch": {
        parameters: {
            query?: never;
            path: {
                path: components["parameters"]["Path"];
                service: components["parameters"]["Service"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description The upstream's answer, with its own status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": unknown;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "vault.listProxyCalls": {
        parameters: {
            query?: {
                agentId?: string;
                cursor?: string;
                grantId?: string;
                limit?: components["parameters"]["Limit"];
                outcome?: string;
                service?: components["parameters"]["VaultService"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProxyCallPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiers.register": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVerifier"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verifier"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "verifiers.renew": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Renewal"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "walletAuthorizations.list": {
        parameters: {
            query?: {
                cursor?: string;
                grantId?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletAuthorizationPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "walletAuthorizations.issue": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWalletAuthorization"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedWalletAuthorization"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "walletAuthorizations.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletAuthorization"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "walletAuthorizations.consume": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletAuthorization"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "walletAuthorizations.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletAuthorization"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "walletAuthorizations.verify": {
        parameters: {
            query?: never;
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyWalletAuthorizationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletAuthorizationVerification"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.listCredentials": {
        parameters: {
            query: {
                cursor?: components["parameters"]["WebauthnCursor"];
                limit?: components["parameters"]["Limit"];
                principalId: string;
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.deleteCredential": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.changeCredential": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Passkey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.registerOptions": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyRegistrationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyCreationOptions"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webauthn.registerVerify": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyPasskeyRegistration"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPasskey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.list": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: components["parameters"]["Limit"];
            };
            path?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.get": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.delete": {
        parameters: {
            query?: never;
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.change": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.deliveries": {
        parameters: {
            query?: {
                cursor?: string;
                eventType?: string;
                limit?: number;
                page?: components["parameters"]["Page"];
                pageSize?: components["parameters"]["PageSize"];
                status?: "pending" | "delivered" | "failed";
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.delivery": {
        parameters: {
            query?: never;
            path: {
                deliveryId: components["parameters"]["DeliveryId"];
                id: components["parameters"]["Id"];
            };
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDetail"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.redeliver": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                deliveryId: components["parameters"]["DeliveryId"];
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.recover": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveredDeliveries"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.rotateSecret": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookSecretRotation"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedWebhookSecret"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a repeat with the same key gets the first answer. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The service gave this answer before. */
                    "Idempotency-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
