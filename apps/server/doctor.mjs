import module from 'node:module';

// `node apps/server/doctor.mjs` looks for what would stop the service, or trouble it, with the environment of the
// service, and changes nothing. `behest doctor --server` runs it with --json. It ends with 1 when a check fails.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 9)) {
  process.stderr.write(`Node 24.9 or later is needed, and this is ${process.version}.\n`);
  process.exit(2);
}
const { compiled, importSource } = await import('./packed.mjs'); // not above, because an old Node cannot run it
module.enableCompileCache(compiled);
const { examine, textOf } = await importSource('doctor');
const checks = await examine(process.env);
process.stdout.write(`${process.argv.includes('--json') ? JSON.stringify(checks) : textOf(checks)}\n`);
process.exit(checks.some(({ result }) => result === 'fail') ? 1 : 0);
