import { onTestFinished } from 'vitest'
import { type AcademyFile, openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { createSealing, memoryKeySource } from '../../../src/server/access/sealing.ts'
import { createApp } from '../../../src/server/http/app.ts'
import { createLazyOutgoing } from '../../../src/server/outgoing/outgoing-when-needed.ts'
import { loadAllRoutes, loadAllWebRoutes } from '../../../src/server/routes.ts'
import { passwordCost } from '../../helpers/academy.ts'
import { fetchOf } from '../../helpers/web.ts'

/** Answers requests from the academy in a file, or from an open one. */
export async function appOn(academy: string | AcademyFile, now: () => Date) {
  const { database, newId } = typeof academy === 'string' ? await openAcademyFile(academy, now) : academy
  onTestFinished(() => database.close())
  const routes = await loadAllRoutes()
  const app = createApp(
    {
      database,
      now,
      newId,
      perMinute: 0,
      passwordCost,
      sealing: createSealing(memoryKeySource()),
      outgoing: createLazyOutgoing({ loopback: false }),
      log: () => undefined,
    },
    () => routes,
    await loadAllWebRoutes(),
  )
  const fetch = fetchOf(app)
  return {
    request: (method: string, path: string, init: RequestInit = {}) =>
      fetch(new Request(`http://localhost${path}`, { method, ...init })),
  }
}
