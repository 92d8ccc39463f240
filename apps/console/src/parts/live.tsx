import { Button } from 'react-aria-components';
import { matches, useLive } from '../live/live.ts';
import { sayer } from '../messages/language.ts';

const say = sayer('live');

export interface LiveOf {
  /** The events that change the list: types, or areas such as `grant.*`. */
  readonly types: readonly string[];
  /** Members of the events' data, where the list is of one of them. */
  readonly about?: Readonly<Record<string, string | undefined>>;
  /** When the list was read, by the clock of the browser. */
  readonly readAt: number;
  readonly load: () => void;
}

/**
 * Says how much is new since a list was read, and reads it when asked. It always takes the same room, so nothing moves
 * under the pointer.
 */
export function Live({ types, about = {}, readAt, load }: LiveOf) {
  const { connection, received } = useLive();
  const count = received.filter(
    ({ event, at }) => at > readAt && matches(types, event.type) && concerns(event.data, about),
  ).length;
  return (
    <span className="live">
      {connection === 'lost' && (
        <span className="aside" role="status" title={say('lostText')}>
          {say('lost')}
        </span>
      )}
      {count > 0 && (
        <Button className="button small" onPress={load}>
          {say('new', { count })}
        </Button>
      )}
      {count === 0 && connection === 'open' && <span className="live-mark">{say('live')}</span>}
    </span>
  );
}

const concerns = (data: Readonly<Record<string, unknown>>, about: NonNullable<LiveOf['about']>) =>
  Object.entries(about).every(
    ([name, value]) => value === undefined || data[name] === undefined || data[name] === value,
  );
