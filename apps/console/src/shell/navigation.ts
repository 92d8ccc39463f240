import type { LinkProps } from '@tanstack/react-router';

/** The pages in the order of the navigation, by group. `name` is a key of the messages' area `navigation`. */
export const navigation = [
  {
    group: 'now',
    pages: [
      { to: '/', name: 'overview' },
      { to: '/tour', name: 'tour' },
    ],
  },
  {
    group: 'authority',
    pages: [
      { to: '/agents', name: 'agents' },
      { to: '/grants', name: 'grants' },
      { to: '/requests', name: 'requests' },
      { to: '/people', name: 'people' },
      { to: '/identity', name: 'identity' },
      { to: '/connections', name: 'connections' },
    ],
  },
  {
    group: 'rules',
    pages: [
      { to: '/policies', name: 'policies' },
      { to: '/manifests', name: 'manifests' },
    ],
  },
  {
    group: 'approval',
    pages: [
      { to: '/decisions', name: 'decisions' },
      { to: '/approvers', name: 'approvers' },
    ],
  },
  {
    group: 'record',
    pages: [
      { to: '/denials', name: 'denials' },
      { to: '/audit', name: 'audit' },
      { to: '/anomalies', name: 'anomalies' },
    ],
  },
  {
    group: 'integrations',
    pages: [
      { to: '/webhooks', name: 'webhooks' },
      { to: '/events', name: 'events' },
    ],
  },
  {
    group: 'account',
    pages: [
      { to: '/members', name: 'members' },
      { to: '/changes', name: 'changes' },
      { to: '/keys', name: 'keys' },
      { to: '/usage', name: 'usage' },
      { to: '/settings', name: 'settings' },
    ],
  },
] as const satisfies readonly Group[];

interface Group {
  readonly group: string;
  readonly pages: readonly { readonly to: NonNullable<LinkProps['to']>; readonly name: string }[];
}
