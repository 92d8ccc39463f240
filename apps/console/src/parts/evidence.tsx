import { useState } from 'react';
import { api } from '../api/client.ts';
import { sayer } from '../messages/language.ts';
import { AllowedButton } from './allowed-button.tsx';
import { announce } from './announcer.tsx';
import { Problem } from './states.tsx';

const say = sayer('evidence');

/** Absent members leave the pack about everything. */
interface EvidenceProps {
  readonly of: {
    readonly agentId?: string | undefined;
    readonly principalId?: string | undefined;
    readonly caseId?: string | undefined;
    readonly since?: string | undefined;
    readonly until?: string | undefined;
  };
  readonly label?: string;
}

/** Makes the signed archive that an auditor checks without the service, about what the page is about. */
export function Evidence({ of, label = say('make') }: EvidenceProps) {
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const run = async () => {
    set({ isBusy: true });
    try {
      const query = { framework: 'all', format: 'zip', ...of } as const;
      const { data } = await api.GET('/v1/compliance/evidence-pack', {
        params: { query: query as never }, // a member that is undefined is not sent
        parseAs: 'blob',
      });
      saveFile(data as unknown as Blob, 'evidence', 'zip'); // the description has the form of the JSON
      announce(say('made'));
      set({});
    } catch (error) {
      set({ error });
    }
  };
  return (
    <>
      <AllowedButton needs="export" isPending={state.isBusy === true} onPress={() => void run()}>
        {state.isBusy ? say('making') : label}
      </AllowedButton>
      {state.error !== undefined && <Problem error={state.error} title={say('notMade')} />}
    </>
  );
}

/** Saves a file that is named for its day. */
export function saveFile(content: Blob, name: string, ending: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = `${name}-${new Date().toISOString().slice(0, 10)}.${ending}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
