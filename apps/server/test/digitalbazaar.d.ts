// These packages have no types.
declare module '@digitalbazaar/bitstring' {
  export class Bitstring {
    constructor(options: { readonly buffer: Uint8Array });
    static decodeBits(options: { readonly encoded: string }): Promise<Uint8Array>;
    get(position: number): boolean;
  }
}

declare module '@digitalbazaar/eddsa-jcs-2022-cryptosuite' {
  interface VerifyCryptosuite {
    readonly name: string;
    createVerifyData(options: {
      readonly cryptosuite: VerifyCryptosuite;
      readonly document: object;
      readonly proof: object;
    }): Promise<Uint8Array>;
    createVerifier(options: { readonly verificationMethod: object }): Promise<{
      verify(options: { readonly data: Uint8Array; readonly signature: Uint8Array }): Promise<boolean>;
    }>;
  }
  export function createVerifyCryptosuite(): VerifyCryptosuite;
}

declare module 'base58-universal' {
  export function decode(text: string): Uint8Array;
}
