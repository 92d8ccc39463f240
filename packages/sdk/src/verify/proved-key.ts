import type { PresentedProof } from './dpop-proof.ts';

/** Loads the check of proofs with the first proof, because most programs see none. @see provedKeyOf */
export async function provedKey(
  proof: PresentedProof,
  token: string,
  clock: () => number,
): Promise<string | undefined> {
  const { provedKeyOf } = await import('./dpop-proof.ts');
  return provedKeyOf(proof, token, clock);
}
