import { prepare } from './neighbour-account.ts';
import { type Attacker, attack } from './neighbour-attacks.ts';

let attacker: Attacker | undefined;

process.on('message', async (message: { prepare: number } | { attack: number; seconds: number }) => {
  if ('prepare' in message) {
    attacker = await prepare(message.prepare);
    process.send?.(`The neighbour has ${attacker.words}.`);
  } else if (attacker) {
    process.send?.(JSON.stringify(await attack(attacker, message.attack, message.seconds)));
  }
});
process.once('disconnect', () => process.exit());
