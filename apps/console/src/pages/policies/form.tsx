import { isWithin } from '@behest/protocol/tool-scopes';
import { type ReactNode, useState } from 'react';
import { FieldError, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { newPolicy } from '../../api/policy.gen.ts';
import { sayer } from '../../messages/language.ts';
import type { Fault } from '../../parts/rules/json.ts';
import type { Draft, Field } from './draft.ts';
import { AgentField, Connectors, useTools } from './known.tsx';

const say = sayer('policy');

interface FormProps {
  readonly draft: Draft;
  /** A field without a value is left out. */
  readonly change: (field: Field, value: unknown) => void;
  readonly faults: readonly Fault[];
}

interface FieldProps extends FormProps {
  readonly name: Field;
  readonly hint?: string;
}

/** Every field of a policy. What is empty limits nothing. */
export function PolicyForm(props: FormProps) {
  return (
    <div className="policy-form">
      <Group title={say('what')}>
        <Line {...props} name="name" />
        <Choice {...props} name="effect" choices={newPolicy.properties.effect.enum} />
        <Line {...props} name="priority" isNumber hint={say('priorityHint')} />
      </Group>
      <Group title={say('who')}>
        <AgentField
          value={shown(props.draft.agentId)}
          change={(agentId) => props.change('agentId', agentId)}
          faults={faultsOf(props.faults, 'agentId')}
        />
        <Line {...props} name="principalId" />
        <Line {...props} name="delegationDepthMin" isNumber />
        <Line {...props} name="delegationDepthMax" isNumber />
      </Group>
      <Group title={say('which')}>
        <Lines {...props} name="scopes" hint={say('scopesHint')} />
        <Lines {...props} name="purposes" hint={say('purposesHint')} />
        <Calls {...props} />
        <Rules {...props} name="arguments" hint={say('argumentsHint')} />
      </Group>
      <Group title={say('when')}>
        <Line {...props} name="timeOfDayStart" placeholder="22:00" />
        <Line {...props} name="timeOfDayEnd" placeholder="06:00" />
        <Line {...props} name="timeZone" placeholder="Europe/Berlin" hint={say('zoneHint')} />
        <Days {...props} name="daysOfWeek" />
        <Lines {...props} name="networks" hint={say('networksHint')} />
      </Group>
    </div>
  );
}

/** The connector and its tools, from those that have a manifest. */
function Calls(props: FormProps) {
  const { draft, change } = props;
  const [isUsed, use] = useState(false);
  const connector = shown(draft.connector);
  const tools = useTools(connector);
  const chosen: readonly unknown[] = Array.isArray(draft.tools) ? draft.tools : [];
  const unmatched =
    tools && chosen.map(shown).filter((pattern) => !tools.some((tool) => isWithin(pattern, tool)));
  const toggle = (tool: string) => {
    const next = chosen.includes(tool) ? chosen.filter((each) => each !== tool) : [...chosen, tool];
    change('tools', next.length > 0 ? next : undefined);
  };
  return (
    <>
      <div>
        <Line
          {...props}
          name="connector"
          hint={say('connectorHint')}
          list="policy-connectors"
          onFocus={() => use(true)}
        />
        <Connectors id="policy-connectors" isUsed={isUsed} />
        {tools === null && <p className="fault">{say('noConnector')}</p>}
      </div>
      <div>
        <Lines {...props} name="tools" hint={say('toolsHint')} />
        {unmatched && unmatched.length > 0 && (
          <p className="fault">{say('noTool', { connector, tools: unmatched.join(', ') })}</p>
        )}
        {tools && tools.length > 0 && (
          <fieldset className="toggle" aria-label={say('knownTools')}>
            {tools.slice(0, MOST_TOOLS).map((tool) => (
              <button
                key={tool}
                type="button"
                aria-pressed={chosen.includes(tool)}
                onClick={() => toggle(tool)}
              >
                {tool}
              </button>
            ))}
          </fieldset>
        )}
      </div>
    </>
  );
}

/** More are typed. */
const MOST_TOOLS = 30;

const Group = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <fieldset>
    <legend>{title}</legend>
    {children}
  </fieldset>
);

/** The faults of a field and of what is in it. */
const faultsOf = (faults: readonly Fault[], name: string) =>
  faults.filter(({ path }) => path === name || path.startsWith(`${name}.`)).map(({ text }) => text);

const shown = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

interface LineProps extends FieldProps {
  readonly isNumber?: true;
  readonly placeholder?: string;
  /** The id of a list of values that the browser offers. */
  readonly list?: string;
  readonly onFocus?: () => void;
}

function Line({ draft, change, faults, name, hint, isNumber, placeholder, list, onFocus }: LineProps) {
  const own = faultsOf(faults, name);
  const set = (typed: string) => {
    const isWhole = isNumber && typed.trim() !== '' && Number.isInteger(Number(typed));
    change(name, typed === '' ? undefined : isWhole ? Number(typed) : typed);
  };
  return (
    <TextField value={shown(draft[name])} onChange={set} isInvalid={own.length > 0} validationBehavior="aria">
      <Label>{say(name)}</Label>
      <Input
        spellCheck="false"
        autoComplete="off"
        {...(isNumber && { inputMode: 'numeric' })}
        {...(placeholder !== undefined && { placeholder })}
        {...(list !== undefined && { list })}
        {...(onFocus && { onFocus })}
      />
      <Notes hint={hint} faults={own} />
    </TextField>
  );
}

const Notes = ({
  hint,
  faults,
}: {
  readonly hint: string | undefined;
  readonly faults: readonly string[];
}) => (
  <>
    {hint !== undefined && (
      <Text slot="description" className="aside">
        {hint}
      </Text>
    )}
    <FieldError className="fault">{faults.join(' ')}</FieldError>
  </>
);

/** A list, one item a line. Commas and spaces part items too. */
function Lines(props: FieldProps) {
  const value = props.draft[props.name];
  return (
    <TypedText
      {...props}
      held={Array.isArray(value) ? value.map(shown).join('\n') : shown(value)}
      read={(text) => {
        const list = text.split(/[\s,]+/).filter(Boolean);
        return { value: list.length > 0 ? list : undefined, held: list.join('\n') };
      }}
    />
  );
}

/** The rules of arguments, which are JSON. */
function Rules(props: FieldProps) {
  const value = props.draft[props.name];
  return (
    <TypedText
      {...props}
      held={typeof value === 'string' || value === undefined ? shown(value) : JSON.stringify(value, null, 2)}
      read={(text) => {
        if (text.trim() === '') return { value: undefined, held: '' };
        try {
          const parsed: unknown = JSON.parse(text);
          return { value: parsed, held: JSON.stringify(parsed, null, 2) };
        } catch {
          return { value: text, held: text }; // the check says that it is no object
        }
      }}
    />
  );
}

interface TypedTextProps extends FieldProps {
  /** The value of the draft as a text. */
  readonly held: string;
  /** @returns the value of a text, and what `held` is then */
  readonly read: (text: string) => { readonly value: unknown; readonly held: string };
}

/** Shows what is typed as it is typed, and what the draft holds when that changes elsewhere. */
function TypedText({ change, faults, name, hint, held, read }: TypedTextProps) {
  const [typed, type] = useState({ held, text: held });
  if (typed.held !== held) type({ held, text: held });
  const own = faultsOf(faults, name);
  const set = (text: string) => {
    const next = read(text);
    type({ held: next.held, text });
    change(name, next.value);
  };
  return (
    <TextField value={typed.text} onChange={set} isInvalid={own.length > 0} validationBehavior="aria">
      <Label>{say(name)}</Label>
      <TextArea rows={name === 'arguments' ? 4 : 2} spellCheck="false" autoComplete="off" />
      <Notes hint={hint} faults={own} />
    </TextField>
  );
}

interface ChoiceProps extends FieldProps {
  readonly choices: readonly string[];
}

function Choice({ draft, change, faults, name, choices }: ChoiceProps) {
  const value = shown(draft[name]);
  const own = faultsOf(faults, name);
  return (
    <div>
      <label>
        <span>{say(name)}</span>
        <select value={value} onChange={({ target }) => change(name, target.value)}>
          {!choices.includes(value) && <option value={value}>{value}</option>}
          {choices.map((each) => (
            <option key={each} value={each}>
              {sayEffect(each)}
            </option>
          ))}
        </select>
      </label>
      {own.length > 0 && <p className="fault">{own.join(' ')}</p>}
    </div>
  );
}

export function sayEffect(effect: string): string {
  switch (effect) {
    case 'deny':
    case 'require_approval':
    case 'allow':
      return say(effect);
    default:
      return effect;
  }
}

/** From Monday on. */
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

function Days({ draft, change, name }: FieldProps) {
  const held = draft[name];
  const chosen = Array.isArray(held) ? held : [];
  const toggle = (day: string, isOn: boolean) => {
    const next = DAYS.filter((each) => (each === day ? isOn : chosen.includes(each)));
    change(name, next.length > 0 ? next : undefined);
  };
  return (
    <fieldset className="days">
      <legend>{say(name)}</legend>
      {DAYS.map((day) => (
        <label key={day}>
          <input
            type="checkbox"
            checked={chosen.includes(day)}
            onChange={({ target }) => toggle(day, target.checked)}
          />
          {say(day)}
        </label>
      ))}
    </fieldset>
  );
}
