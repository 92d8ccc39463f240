import { Link, type LinkProps } from '@tanstack/react-router';
import { ApiError } from '../../api/errors.ts';
import { sayer } from '../../messages/language.ts';

const say = sayer('overview');

interface CardProps extends Pick<LinkProps, 'to' | 'search'> {
  readonly name: string;
  readonly value: string | undefined;
  readonly error: unknown;
}

/** One number. One that cannot be had says why, since a zero would be taken for a fact. */
export function Card({ name, value, error, ...link }: CardProps) {
  const body = (
    <>
      <span className="card-name">{name}</span>
      {error ? (
        <span className="card-missing">{reasonOf(error)}</span>
      ) : (
        <strong className="card-value">{value ?? '…'}</strong>
      )}
    </>
  );
  return link.to === undefined ? (
    <p className="card">{body}</p>
  ) : (
    <Link {...link} className="card">
      {body}
    </Link>
  );
}

const reasonOf = (error: unknown) =>
  say('missing', { reason: error instanceof ApiError ? error.message : say('unknownReason') });

/** In a panel: that its content is on its way, or why it cannot be shown. */
export function Missing({ error, isPending }: { readonly error: unknown; readonly isPending: boolean }) {
  if (error) return <p className="aside">{reasonOf(error)}</p>;
  return isPending ? <p className="loading">…</p> : null;
}
