import { readEntryRules } from '@behest/protocol/arguments/entry-rules';
import type { Rules } from '@behest/protocol/arguments/rules';
import { reportTo } from '@behest/protocol/field-reports';
import { isPurpose } from '@behest/protocol/purposes';
import { isWithin } from '@behest/protocol/tool-scopes';
import { AppError, badField } from '../../../platform/errors.ts';
import type { Conditions } from './match.rules.ts';
import { readNetwork } from './networks.rules.ts';
import { isZone } from './time.rules.ts';

/** Refuses conditions that would match never or always, which no author means. @throws BAD_REQUEST */
export function mustBeConditions(policy: Conditions): void {
  mustBeTimes(policy);
  mustBeListed(
    'purposes',
    policy.purposes,
    isPurpose,
    'A purpose is one of the vocabulary, or `x-<org>.<term>`.',
  );
  const isNetwork = (text: string) => readNetwork(text) !== undefined;
  mustBeListed('networks', policy.networks, isNetwork, 'A network is like `10.0.0.0/8` or `2001:db8::/32`.');
  const { depthMin, depthMax } = policy;
  if (depthMin !== null && depthMax !== null && depthMin > depthMax) {
    throw badField('delegationDepthMax', 'too_small');
  }
  mustBeCall(policy);
}

function mustBeTimes({ dayStart, dayEnd, timeZone, daysOfWeek }: Conditions): void {
  if ((dayStart === null) !== (dayEnd === null)) {
    throw badField(dayStart === null ? 'timeOfDayStart' : 'timeOfDayEnd', 'required');
  }
  if (dayStart !== null && dayStart === dayEnd) {
    const why = 'Hours that end where they begin would match never or always.';
    throw badField('timeOfDayEnd', 'not_allowed', why);
  }
  if (timeZone === null) return;
  if (!isZone(timeZone))
    throw badField('timeZone', 'format', 'A zone has an IANA name, such as `Europe/Berlin`.');
  if (dayStart === null && daysOfWeek === null) {
    throw badField('timeZone', 'not_allowed', 'A zone belongs to days or times of day.');
  }
}

function mustBeListed(
  field: string,
  list: readonly string[] | null,
  isRight: (text: string) => boolean,
  form: string,
): void {
  const wrong = list?.findIndex((text) => !isRight(text)) ?? -1;
  if (wrong !== -1) throw badField(`${field}.${wrong}`, 'format', form);
}

function mustBeCall({ connector, tools, argumentRules }: Conditions): void {
  if (connector === null && (tools !== null || argumentRules !== null))
    throw badField('connector', 'required');
  for (const tool of Object.keys(argumentRules ?? {})) {
    if (tools !== null && !tools.some((pattern) => isWithin(pattern, tool))) {
      throw badField(`arguments.${tool}`, 'not_allowed', '`tools` does not name this tool.');
    }
  }
}

/** @throws BAD_REQUEST */
export function acceptArguments(value: object): Readonly<Record<string, Rules>> {
  const faults: Parameters<typeof reportTo>[0] = [];
  const read = readEntryRules(value, { path: 'arguments', report: reportTo(faults) });
  if (!read || faults.length > 0) {
    throw new AppError('BAD_REQUEST', 'The request is not valid.', { fields: faults });
  }
  return read;
}
