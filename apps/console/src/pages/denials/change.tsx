import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Code } from '../../parts/code.tsx';
import { byWhom } from './words.ts';

const say = sayer('denials');

type Change = Schemas['Explanation']['changes'][number];

/** One way to let the call pass: who makes it, what, and where. */
export function ChangeItem({ change }: { readonly change: Change }) {
  const { by, text, consent } = change;
  return (
    <li>
      <p>
        <span className="status status-plain">{byWhom(by)}</span> <Words text={text} />
      </p>
      <Place target={change.target} />
      {consent && <Code text={consentText(consent)} label={say('askAgain')} />}
    </li>
  );
}

const consentText = (consent: NonNullable<Change['consent']>) =>
  `curl ${location.origin}/v1/authorize \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '${quoted(JSON.stringify(consent))}'`;

/** A principal's id may hold any character, and the reader pastes this into a shell. In JSON a quote may stand only in a text. */
const quoted = (json: string) => json.replaceAll("'", '\\u0027');

function Place({ target: { kind, id, place } }: { readonly target: Change['target'] }) {
  const where = place === null ? null : <code>{place}</code>;
  if (id === null) return where && <p className="aside">{where}</p>;
  switch (kind) {
    case 'agent':
      return (
        <p className="aside">
          <Link to="/agents/$agentId" params={{ agentId: id }}>
            {say('toAgent')}
          </Link>{' '}
          {where}
        </p>
      );
    case 'grant':
    case 'consent':
      return (
        <p className="aside">
          <Link to="/grants/$grantId" params={{ grantId: id }}>
            {say('toGrant')}
          </Link>{' '}
          {where}
        </p>
      );
    case 'policy':
      return (
        <p className="aside">
          <Link to="/policies/$policyId" params={{ policyId: id }}>
            {say('toPolicy')}
          </Link>{' '}
          {where}
        </p>
      );
    case 'manifest':
      return (
        <p className="aside">
          {place === null ? (
            <Link to="/manifests">{say('toManifests')}</Link>
          ) : (
            <Link to="/manifests/$connector" params={{ connector: id }}>
              {say('toManifest')}
            </Link>
          )}{' '}
          {where}
        </p>
      );
    default:
      return (
        <p className="aside">
          {say(kind)} <code>{id}</code> {where}
        </p>
      );
  }
}

/** A sentence of the service. What stands between backticks in it is code. */
export function Words({ text }: { readonly text: string }) {
  return text.split('`').map((part, at) => {
    const key = `${at} ${part}`;
    return at % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
  });
}
