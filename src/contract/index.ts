import { analytics } from './analytics.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { calendars } from './calendars.ts'
import { changes } from './changes.ts'
import { courses } from './courses.ts'
import { deliveries } from './deliveries.ts'
import { endpoints } from './endpoints.ts'
import { enrollments } from './enrollments.ts'
import { grades } from './grades.ts'
import { grants } from './grants.ts'
import { groups } from './groups.ts'
import { integrations } from './integrations.ts'
import { keys } from './keys.ts'
import { leases } from './leases.ts'
import { lessons } from './lessons.ts'
import { messages } from './messages.ts'
import type { Operation } from './operation.ts'
import { plans } from './plans.ts'
import { progress } from './progress.ts'
import { service } from './service.ts'
import { settings } from './settings.ts'
import { terms } from './terms.ts'
import { undo } from './undo.ts'
import { users } from './users.ts'

export const contract = {
  courses,
  lessons,
  users,
  terms,
  enrollments,
  groups,
  progress,
  grades,
  analytics,
  calendars,
  keys,
  apps,
  grants,
  endpoints,
  messages,
  deliveries,
  integrations,
  audit,
  changes,
  undo,
  plans,
  settings,
  leases,
  service,
}
export type Contract = typeof contract

export const operations: readonly Operation[] = Object.values(contract).flatMap((group) =>
  Object.values(group),
)
