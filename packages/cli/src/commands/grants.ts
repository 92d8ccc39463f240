import type { CommandSpec } from '../program/spec.ts';

export const GRANTS: readonly CommandSpec[] = [
  {
    name: 'grants tree',
    summary: 'Draw the grants that were delegated from a grant',
    args: [{ name: 'id', about: 'the id of the grant' }],
    examples: ['behest grants tree <id>', 'behest grants tree <id> --json'],
    async run(context, { args: [id = ''] }) {
      const client = await context.client();
      const top = await client.grants.get(id);
      const all: Node[] = [top];
      const root = top.rootGrantId ?? top.grantId;
      for await (const grant of client.grants.list({ rootGrantId: root, limit: 500 }))
        if (grant.grantId !== id) all.push(grant);
      const lines = branchesOf(id, all, '');
      if (context.globals.output !== 'table') {
        const below = new Set(lines.map(({ grant }) => grant));
        return context.rows([top, ...all.filter((grant) => below.has(grant))]);
      }
      context.line(labelOf(top));
      for (const { text } of lines) context.line(text);
    },
  },
];

interface Node {
  readonly grantId: string;
  readonly parentGrantId?: string | null;
  readonly agentId: string;
  readonly status: string;
  readonly scopes: readonly string[];
}

const labelOf = ({ grantId, agentId, status, scopes }: Node) =>
  `${grantId}  ${agentId}  ${status}  ${scopes.join(',')}`;

function branchesOf(
  parent: string,
  all: readonly Node[],
  lead: string,
): { readonly grant: Node; readonly text: string }[] {
  const children = all.filter(({ parentGrantId }) => parentGrantId === parent);
  return children.flatMap((grant, at) => {
    const isLast = at === children.length - 1;
    const text = `${lead}${isLast ? '└─ ' : '├─ '}${labelOf(grant)}`;
    return [{ grant, text }, ...branchesOf(grant.grantId, all, `${lead}${isLast ? '   ' : '│  '}`)];
  });
}
