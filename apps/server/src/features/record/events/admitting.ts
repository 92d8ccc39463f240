import { MOST_WAITING, type Outlet, type StreamedEvent } from './outlet.ts';

/** An event is sent or left out; with `end`, the consumer may see it and all others no more. */
export type Admission = 'sent' | 'left out' | 'end';

export type Admit = (event: StreamedEvent) => Promise<Admission>;

/**
 * An outlet that asks about each event before it sends it. Answers are awaited one after the other, so events and gaps
 * keep their order. A question that fails cuts the consumer off, who may resume.
 */
export function admitting(outlet: Outlet, admit: Admit, onTrouble: (error: unknown) => void): Outlet {
  let turns = Promise.resolve();
  let waiting = 0; // bytes of the events whose turn has not come

  const inTurn = (act: () => void | Promise<void>) => {
    turns = turns
      .then(() => (outlet.isClosed() ? undefined : act()))
      .catch((error: unknown) => {
        onTrouble(error);
        outlet.cutOff();
      });
  };
  return {
    ...outlet,
    event(event) {
      const bytes = Buffer.byteLength(event.envelope);
      waiting += bytes;
      if (waiting > MOST_WAITING) return outlet.cutOff();
      inTurn(async () => {
        waiting -= bytes;
        const admission = await admit(event);
        if (admission === 'sent') outlet.event(event);
        if (admission === 'end') outlet.end('credentialEnded');
      });
    },
    gap: (cursor) => inTurn(() => outlet.gap(cursor)),
    async taken() {
      await turns;
      await outlet.taken();
    },
  };
}
