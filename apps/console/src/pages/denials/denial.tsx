import { Link } from '@tanstack/react-router';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Id, Scopes, ShortId, Status, When } from '../../parts/text.tsx';
import { denialRoute } from '../routes.ts';
import { ChangeItem } from './change.tsx';
import { CheckItem, factsOf } from './checks.tsx';

const say = sayer('denials');

type Explanation = Schemas['Explanation'];

/** Why one call was denied, first what decided, then what would allow it, then every check in its order. */
export function Denial() {
  const { entryId } = denialRoute.useParams();
  const read = query.useQuery('get', '/v1/audit/{id}/explanation', { params: { path: { id: entryId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const { allowed, call, request, at, asOf, checks, changes } = read.data;
  const name = `${call.connector ?? '?'}:${call.tool ?? '?'}`;
  const title = request ? say(`of_${kindOf(request.operation)}`) : undefined;
  return (
    <Page
      trail={request ? <Link to="/audit">{say('audit')}</Link> : <Link to="/denials">{say('title')}</Link>}
      title={title ?? say(allowed ? 'titleAllowed' : 'titleDenied', { call: name })}
      lead={
        <>
          <Status status={allowed ? 'success' : 'denied'} /> <When at={at} />{' '}
          <Id id={entryId} of={say('entryId')} />
        </>
      }
    >
      {!allowed && <Decided explanation={read.data} />}
      {!allowed && (
        <Panel title={say('wouldAllow')}>
          {changes.length === 0 ? (
            <p>{say('noChange')}</p>
          ) : (
            <p className="aside">{say(request ? 'eachAloneOfRequest' : 'eachAlone')}</p>
          )}
          <ol className="changes">
            {changes.map((change) => (
              <ChangeItem key={change.text} change={change} />
            ))}
          </ol>
        </Panel>
      )}
      <div className="columns">
        {!request && (
          <Panel title={say('checks')}>
            <p className="aside">
              {say('checksText')} <When at={asOf} />
            </p>
            <ol className="checks">
              {checks.map((check) => (
                <CheckItem key={check.check} check={check} />
              ))}
            </ol>
          </Panel>
        )}
        <Panel title={say(request ? 'theRequest' : 'theCall')}>
          <Facts facts={factsOfCall(read.data)} />
        </Panel>
      </div>
    </Page>
  );
}

/** The check that failed, with its rule and all that it saw. */
function Decided({ explanation }: { readonly explanation: Explanation }) {
  const { denial, rule, checks } = explanation;
  const failed = checks.find(({ outcome }) => outcome === 'failed');
  return (
    <Panel title={say('decided')}>
      <p className="decided">{denial?.reason ?? say('notKnown')}</p>
      {denial && <code>{[denial.reasonCode, denial.subReason].filter(Boolean).join('/')}</code>}
      {rule && (
        <p>
          {rule.text} {rule.id !== null && <ShortId id={rule.id} />}{' '}
          {rule.place !== null && <code>{rule.place}</code>}
        </p>
      )}
      {rule && rule.conditions.length > 0 && (
        <ul className="conditions">
          {rule.conditions.map(({ field, condition, met }) => (
            <li key={field + condition}>{say('condition', { field, condition, met })}</li>
          ))}
        </ul>
      )}
      {failed && <Facts facts={factsOf(failed)} />}
      {failed && failed.notRecorded.length > 0 && (
        <p className="aside">{say('notRecorded', { names: failed.notRecorded.join(', ') })}</p>
      )}
    </Panel>
  );
}

/** What was asked against what was refused and is allowed. */
function factsOfRequest({
  scopes,
  refusedScopes,
  allowedScopes,
  purpose,
}: NonNullable<Explanation['request']>) {
  return [
    [say('asked'), <Scopes key="asked" scopes={scopes} most={50} />],
    [
      say('refused'),
      refusedScopes.length === 0 ? (
        say('noneGiven')
      ) : (
        <Scopes key="refused" scopes={refusedScopes} most={50} />
      ),
    ],
    ...(allowedScopes === null
      ? []
      : [[say('allowedNow'), <Scopes key="allowed" scopes={allowedScopes} most={50} />] as const]),
    ...(purpose === null ? [] : [[say('purpose'), <code key="purpose">{purpose}</code>] as const]),
  ] as const;
}

const kindOf = (operation: string | null) =>
  operation === 'delegate' || operation === 'token' || operation === 'refresh' ? operation : 'consent';

function factsOfCall({ call, request, entryId }: Explanation) {
  const { callId, agentId, principalId, grantId, resource, caseId, requestId, checkOnly } = call;
  return [
    [
      say('agent'),
      agentId === null ? (
        say('notVerified')
      ) : (
        <Link key="agent" to="/agents/$agentId" params={{ agentId }}>
          <AgentName id={agentId} />
        </Link>
      ),
    ],
    [
      say('person'),
      principalId === null ? (
        say('notVerified')
      ) : (
        <Link key="person" to="/people/$principalId" params={{ principalId }}>
          <bdi>{principalId}</bdi>
        </Link>
      ),
    ],
    ...(request !== null && grantId === null
      ? []
      : [
          [
            say('grant'),
            grantId === null ? (
              say('notVerified')
            ) : (
              <Link key="grant" to="/grants/$grantId" params={{ grantId }}>
                <ShortId id={grantId} />
              </Link>
            ),
          ] as const,
        ]),
    [
      say('entry'),
      <Link key="entry" to="/audit/$entryId" params={{ entryId }}>
        <ShortId id={entryId} />
      </Link>,
    ],
    ...(request === null
      ? [[say('callId'), callId && <code key="call">{callId}</code>] as const]
      : factsOfRequest(request)),
    ...(resource === null ? [] : [[say('resource'), <code key="resource">{resource}</code>] as const]),
    ...(caseId === null ? [] : [[say('caseId'), <code key="case">{caseId}</code>] as const]),
    ...(requestId === null ? [] : [[say('requestId'), <code key="request">{requestId}</code>] as const]),
    ...(checkOnly ? [[say('checkOnly'), say('checkOnlyText')] as const] : []),
  ] as const;
}
