import sql from 'sql-template-tag'
import { Settings, SettingsInput, settings } from '../contract/settings.ts'
import {
  enrollmentSetting,
  instructorAccess,
  instructorEnrollment,
  instructorSetting,
} from './access/sight.ts'
import { recordChange } from './changes/change.ts'
import type { Database, Row } from './database/database.ts'
import { writeSetting } from './database/record.ts'
import { requireVersion } from './http/handler.ts'
import { changedFields } from './http/request-body.ts'
import { resourceOf, routesOf } from './http/schema-routes.ts'

const changeSetting = 'settings_change'

/** Settings are rows of the database, so all servers and commands on it share them. */
export const settingsRoutes = routesOf(settings, {
  get: ({ database }) => readSettings(database),

  async update(call) {
    const { database, now } = call
    const before = await readSettings(database)
    const input = resourceOf(call, SettingsInput, Settings, before)
    requireVersion(call, before.version)
    if (changedFields(input, before).length === 0) return before
    const after = { ...input, version: before.version + 1, updatedAt: now }
    const { version, updatedAt } = after
    await writeSetting(database, instructorSetting, input.instructorAccess)
    await writeSetting(database, enrollmentSetting, input.instructorEnrollment)
    await writeSetting(database, changeSetting, JSON.stringify({ version, updatedAt } satisfies LastChange))
    await recordChange(call, { action: 'settings.updated', id: 'settings', before, after })
    return after
  },
})

type LastChange = Pick<Settings, 'version' | 'updatedAt'>

async function readSettings(database: Database): Promise<Settings> {
  type Stored = Pick<Settings, 'instructorAccess' | 'instructorEnrollment'>
  const row = await database.one<Row & Stored & { change: string | null }>(sql`
    select ${instructorAccess} as "instructorAccess", ${instructorEnrollment} as "instructorEnrollment",
      (select value from settings where name = ${changeSetting}) as change`)
  // Written by `update`.
  const change = JSON.parse(row?.change ?? 'null') as LastChange | null
  return {
    instructorAccess: row?.instructorAccess ?? 'taught',
    instructorEnrollment: row?.instructorEnrollment ?? 'known',
    ...(change ?? { version: 1, updatedAt: null }),
  }
}
