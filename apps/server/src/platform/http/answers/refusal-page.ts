import type { AppError } from '../../errors.ts';
import type { PlainPage } from './plain-page.ts';

const title = 'This did not work';

/**
 * The page of a refusal. `details.leadsTo` is the web address of a site that nobody here knows. The page then names the host
 * and shows none of the site's own words, since a person takes every word on it for the service's.
 */
export function refusalPage({ message, details }: AppError): PlainPage {
  const { leadsTo, oauth } = Object(details);
  if (leadsTo === undefined) return { title, lead: message };
  const { host } = new URL(leadsTo);
  const lead = `The site ${host} sent you here with a request that the service refuses (${oauth}). The service does not know this site. Go back only if you came from there.`;
  return { title, lead, link: { label: `Go back to ${host}`, href: leadsTo } };
}
