import * as z from 'zod'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import { operationsOf } from './operation.ts'
import { timeOrNull, version } from './record-fields.ts'

const attributes = {
  instructorAccess: field(
    z.enum(['taught', 'all']).default('taught'),
    'What instructors see and change: taught for the courses that they teach, with the learners there; all for every course and user',
    'What instructors see and change',
  ),
  instructorEnrollment: field(
    z.enum(['known', 'anyone']).default('known'),
    'People whom an instructor may enrol: known for those whom they see, or name by e-mail address or id; anyone also for those named by external id',
    'People whom an instructor may enrol',
  ),
}

/** For all servers and commands of an academy. */
export const SettingsInput = named('SettingsInput', 'The settings of an academy', sent(attributes))
export type SettingsInput = z.output<typeof SettingsInput>

const SettingsPatch = named(
  'SettingsPatch',
  'A merge patch of the settings (RFC 7396): absent settings are left unchanged, null resets one to its default',
  patchOf(SettingsInput),
)

export const Settings = named(
  'Settings',
  'The settings of an academy, as they apply now',
  shown(() => ({
    ...answered(attributes),
    version,
    updatedAt: timeOrNull('When a setting was last changed; null if none was'),
  })),
)
export type Settings = z.output<typeof Settings>

export const settings = operationsOf('settings', {
  get: {
    at: 'GET /v1/settings',
    summary: 'Show the settings of the academy',
    scope: 'admin',
    response: Settings,
  },
  update: {
    at: 'PUT /v1/settings',
    summary: 'Update the settings of the academy',
    scope: 'admin',
    body: SettingsPatch,
    merge: true,
    response: Settings,
  },
})
