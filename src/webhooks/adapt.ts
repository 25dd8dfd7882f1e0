import type { JsonObject } from '../codec/json-object.ts'
import type { LmsKind } from '../contract/integration-choices.ts'
import type { Adapter } from './adapter.ts'
import { adaptCanvas } from './canvas.ts'
import type { EventSettings, LmsEvent } from './event.ts'
import { kinds } from './kinds.ts'
import { instantAt, naiveTimeAt, secondsAt } from './member.ts'
import { adaptMoodle } from './moodle.ts'
import { adaptOpenedx } from './openedx.ts'
import { adaptStandard } from './standard.ts'
import { adaptThinkific } from './thinkific.ts'

const adapters: Readonly<Record<LmsKind, Adapter>> = {
  canvas: adaptCanvas,
  moodle: adaptMoodle,
  openedx: adaptOpenedx,
  thinkific: adaptThinkific,
  standard: adaptStandard,
}

const timeReaders = { instant: instantAt, naive: naiveTimeAt, seconds: secondsAt }

/** What a payload means. Throws DeliveryFault `malformed_payload` where it is not what its kind sends. */
export function adapt(kind: LmsKind, body: JsonObject, settings: EventSettings): LmsEvent {
  const { path, form } = kinds[kind].time
  return adapters[kind]({ body, settings, at: () => timeReaders[form](body, path) })
}
