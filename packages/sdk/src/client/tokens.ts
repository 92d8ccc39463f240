import type { TokenSource } from '@behest/protocol/enforcement/ports';
import { developersOf } from '@behest/protocol/whose-tokens';
import { BehestError, BehestNetworkError } from '../errors.ts';
import { issuerKeysOf, type TokenSourceOptions, tokenSource } from '../verify/token-source.ts';
import type { BehestOptions } from './options.ts';
import { askService, type ServiceOptions } from './service.ts';

/**
 * The source of a client's tokens. Without `developerId` it asks the service whose key it has, once, at the first
 * token; while there is no answer, no token is taken.
 */
export function clientTokens(
  options: BehestOptions,
  baseUrl: string,
  service: ServiceOptions | undefined,
): TokenSource {
  const { issuer = baseUrl, jwksUri = `${baseUrl}/.well-known/jwks.json`, developerId } = options;
  const keys = issuerKeysOf(jwksUri, options);
  const sourceFor = (whose: string | readonly string[]) =>
    tokenSource({ ...definedOf(options), issuer, keys, developerId: whose });
  if (developerId !== undefined || !service) return sourceFor(mustBeDevelopers(developerId));

  let source: TokenSource | undefined;
  let learning: Promise<TokenSource> | undefined;
  const learn = async () => {
    const { developerId: own } = await askService(service, '/v1/me');
    // An answer without an id, as another server gives it, names nobody whose tokens are taken.
    if (typeof own !== 'string' || own === '') throw new BehestNetworkError('The service names no account.');
    source = sourceFor(own);
    return source;
  };
  return {
    verify(token, provedKey) {
      if (source) return source.verify(token, provedKey);
      learning ??= learn().finally(() => {
        learning = undefined; // asked again at the next token
      });
      return learning.then(
        (learned) => learned.verify(token, provedKey),
        () => ({ ok: false, reason: 'keys_unavailable' as const }),
      );
    },
  };
}

/** @throws BehestError with the sentence that says why the developer is needed */
function mustBeDevelopers(developerId: BehestOptions['developerId']): string | readonly string[] {
  try {
    // The check takes what JavaScript hands over, which may be nothing.
    developersOf({ developerId: developerId as string });
  } catch (error) {
    throw new BehestError('CONFIGURATION', error instanceof Error ? error.message : String(error));
  }
  return developerId ?? [];
}

function definedOf(
  options: BehestOptions,
): Partial<Omit<TokenSourceOptions, 'issuer' | 'keys' | 'developerId'>> {
  const { allowSandbox, audience, clockTolerance, rememberedTokens } = options;
  return {
    ...(allowSandbox !== undefined && { allowSandbox }),
    ...(audience !== undefined && { audience }),
    ...(clockTolerance !== undefined && { clockTolerance }),
    ...(rememberedTokens !== undefined && { rememberedTokens }),
  };
}
