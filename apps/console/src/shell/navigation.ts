import type { LinkProps } from '@tanstack/react-router';
import {
  Bot,
  ChartColumn,
  Compass,
  Contact,
  FileCode,
  Fingerprint,
  Gavel,
  GitCompareArrows,
  Inbox,
  Key,
  LayoutDashboard,
  type LucideIcon,
  Plug,
  Radio,
  Scale,
  ScrollText,
  Settings,
  ShieldCheck,
  ShieldX,
  TriangleAlert,
  UserCheck,
  Users,
  Webhook,
} from 'lucide-react';

/** The pages in the order of the navigation, by group. `name` is a key of the messages' area `navigation`. */
export const navigation = [
  {
    group: 'now',
    pages: [
      { to: '/', name: 'overview', icon: LayoutDashboard },
      { to: '/tour', name: 'tour', icon: Compass },
    ],
  },
  {
    group: 'authority',
    pages: [
      { to: '/agents', name: 'agents', icon: Bot },
      { to: '/grants', name: 'grants', icon: ShieldCheck },
      { to: '/requests', name: 'requests', icon: Inbox },
      { to: '/people', name: 'people', icon: Users },
      { to: '/identity', name: 'identity', icon: Fingerprint },
      { to: '/connections', name: 'connections', icon: Plug },
    ],
  },
  {
    group: 'rules',
    pages: [
      { to: '/policies', name: 'policies', icon: Scale },
      { to: '/manifests', name: 'manifests', icon: FileCode },
    ],
  },
  {
    group: 'approval',
    pages: [
      { to: '/decisions', name: 'decisions', icon: Gavel },
      { to: '/approvers', name: 'approvers', icon: UserCheck },
    ],
  },
  {
    group: 'record',
    pages: [
      { to: '/denials', name: 'denials', icon: ShieldX },
      { to: '/audit', name: 'audit', icon: ScrollText },
      { to: '/anomalies', name: 'anomalies', icon: TriangleAlert },
    ],
  },
  {
    group: 'integrations',
    pages: [
      { to: '/webhooks', name: 'webhooks', icon: Webhook },
      { to: '/events', name: 'events', icon: Radio },
    ],
  },
  {
    group: 'account',
    pages: [
      { to: '/members', name: 'members', icon: Contact },
      { to: '/changes', name: 'changes', icon: GitCompareArrows },
      { to: '/keys', name: 'keys', icon: Key },
      { to: '/usage', name: 'usage', icon: ChartColumn },
      { to: '/settings', name: 'settings', icon: Settings },
    ],
  },
] as const satisfies readonly Group[];

interface Group {
  readonly group: string;
  readonly pages: readonly {
    readonly to: NonNullable<LinkProps['to']>;
    readonly name: string;
    readonly icon: LucideIcon;
  }[];
}
