import { join } from 'node:path'
import { type RunningServer, serve } from '../../src/server/socket/serve.ts'
import { passwordCost } from './academy.ts'

/** Serves a new academy in a folder on a free port of the loopback, as the platform of processes. */
export function servePlatform(folder: string): Promise<RunningServer> {
  return serve({
    path: join(folder, 'platform.db'),
    host: '127.0.0.1',
    port: 0,
    allowHosts: [],
    publicUrl: undefined,
    corsOrigins: [],
    perMinute: 0,
    writeLog: () => {},
    passwordCost,
    temporary: true,
  })
}
