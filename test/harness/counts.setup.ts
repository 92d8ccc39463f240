import { createClient } from '@redis/client';
import { dropDatabases } from '../../apps/server/test/app/start-app.ts';
import { redisUrl } from '../../apps/server/test/servers/start-server.ts';

await dropDatabases();

// All files of a worker share its database of Redis and one client address, and each begins with nothing counted.
const client = await createClient({ url: redisUrl() }).connect();
await client.flushDb();
client.destroy();
