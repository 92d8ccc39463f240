export {
  createTestIssuer,
  type MockBehest,
  type MockOptions,
  mockBehest,
  type TestIssuer,
  type TestIssuerOptions,
} from './testing/test-issuer.ts';
