import { createClient } from '@redis/client';
import { redisUrl } from '../../apps/server/test/servers/start-server.ts';

// All files of a worker share its database of Redis and one client address, and each begins with nothing counted.
const client = await createClient({ url: redisUrl() }).connect();
await client.flushDb();
client.destroy();
