import { Link } from '@tanstack/react-router';
import { sayer } from '../messages/language.ts';
import { navigation } from './navigation.ts';

const sayPage = sayer('navigation');

/** The links of the navigation. @param onGo follows each of them */
export function Pages({ onGo }: { readonly onGo?: () => void }) {
  return navigation.map(({ group, pages }) => (
    <section key={group} className="pages">
      <h2>{sayPage(group)}</h2>
      <ul>
        {pages.map(({ to, name, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              {...(onGo && { onClick: onGo })}
            >
              <Icon size={16} aria-hidden />
              {sayPage(name)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  ));
}
