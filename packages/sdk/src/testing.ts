export { type MockBehest, type MockOptions, mockBehest } from './testing/mock-behest.ts';
export { createTestIssuer, type TestIssuer, type TestIssuerOptions } from './testing/test-issuer.ts';
