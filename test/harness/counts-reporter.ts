import type { Reporter, TestModule } from 'vitest/node';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Sends the counts of passed and failed tests to the process that started Vitest. */
class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const unloaded = modules.filter((module) => module.errors().length > 0).length;
    process.send?.({
      passed: count('passed'),
      failed: count('failed') + unloaded,
      skipped: count('skipped'),
    });
  }
}

export default CountsReporter; // Vitest loads a reporter by its default export
