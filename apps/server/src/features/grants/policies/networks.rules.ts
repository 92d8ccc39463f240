import { networkForm } from '@behest/protocol/arguments/forms/networks';

/** A network, or an address as the network of its full length. */
export type Network = NonNullable<ReturnType<typeof networkForm.readItem>>;

/** @returns undefined for a text that is no network: hosts' bits have to be 0, and IPv4 has its own form */
export const readNetwork = (text: string): Network | undefined => networkForm.readItem(text);

/** Reads the address of a caller, of which a socket for both families writes IPv4 inside IPv6. */
export function readAddress(text: string): Network | undefined {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  return readNetwork(v4 ?? text.replace(/%[\s\S]*$/, ''));
}

export const isInside = (networks: readonly Network[], address: Network): boolean =>
  networks.some((network) => networkForm.allows(network, address));

/** Whether two lists have an address in common. @returns the narrower network, undefined if there is none */
export function commonNetwork(one: readonly string[], other: readonly string[]): string | undefined {
  for (const text of one) {
    for (const further of other) {
      const [a, b] = [readNetwork(text), readNetwork(further)];
      if (!a || !b) continue;
      if (networkForm.allows(a, b)) return further;
      if (networkForm.allows(b, a)) return text;
    }
  }
  return undefined;
}
