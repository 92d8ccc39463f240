import pg from 'pg';

/**
 * A connection that knows whether it leads to a standby: Postgres says so at its beginning. During a fail-over the address
 * of the primary may lead to a standby for a while, whose reads are of the past. A token that was just revoked would
 * be good there.
 */
export class StandbyAwareClient extends pg.Client {
  isStandby = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'in_hot_standby') this.isStandby = parameterValue === 'on';
    });
  }
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** For the pool, which then forgets the connection. @throws on a standby, with the code of a refused write */
export function requirePrimary(client: pg.ClientBase): void {
  if (!(client instanceof StandbyAwareClient && client.isStandby)) return;
  throw Object.assign(new Error('The server of the database is a standby.'), { code: '25006' });
}
