/** RFC 8693, section 4.1: the acting agent, and inside it the agent that acted before. */
interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

/**
 * @param claims the claims of a verified grant token
 * @returns the DIDs of the agents, from the one that the person chose to the one that holds the token
 */
export function actingAgents(claims: { readonly act: Actor }): string[] {
  const agents: string[] = [];
  for (let actor: Actor | undefined = claims.act; actor; actor = actor.act) agents.unshift(actor.sub);
  return agents;
}
