import { useState } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';

const say = sayer('anomalies');

interface AlertActsProps {
  readonly alert: Schemas['Alert'];
  /** On the alert's own page. */
  readonly isLarge?: boolean;
}

/** Somebody looks into it, or it is done, each with a note for the others. A row offers only what comes next. */
export function AlertActs({ alert: { alertId, ruleName, status }, isLarge = false }: AlertActsProps) {
  const [note, write] = useState('');
  const params = { path: { alertId } };
  const body = note.trim() === '' ? {} : { note: note.trim() };
  const field = (
    <TextField value={note} onChange={write} maxLength={1000} className="field">
      <Label>{say('note')}</Label>
      <Input />
    </TextField>
  );
  return (
    <span className="actions">
      {status === 'open' && (
        <Act
          text={say('acknowledge')}
          label={say('acknowledgeOne', { name: ruleName })}
          title={say('acknowledgeTitle')}
          needs="operate"
          isHarmless
          isLarge={isLarge}
          run={() => api.POST('/v1/anomaly/alerts/{alertId}/acknowledge', { params, body })}
        >
          <p>{say('acknowledgeText')}</p>
          {field}
        </Act>
      )}
      {(status === 'acknowledged' || (status === 'open' && isLarge)) && (
        <Act
          text={say('resolve')}
          label={say('resolveOne', { name: ruleName })}
          title={say('resolveTitle')}
          needs="operate"
          isHarmless
          isLarge={isLarge}
          run={() => api.POST('/v1/anomaly/alerts/{alertId}/resolve', { params, body })}
        >
          <p>{say('resolveText')}</p>
          {field}
        </Act>
      )}
    </span>
  );
}
