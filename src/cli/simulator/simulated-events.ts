import type { LmsKind } from '../../contract/integration-choices.ts'
import { canvasEvents } from './canvas-events.ts'
import { moodleEvents, openedxEvents, standardEvents, thinkificEvents } from './other-events.ts'
import type { SimulatedEvents } from './simulated-event.ts'

/** What can be simulated, by kind. */
export const simulatedEvents: Readonly<Record<LmsKind, SimulatedEvents>> = {
  canvas: canvasEvents,
  moodle: moodleEvents,
  openedx: openedxEvents,
  thinkific: thinkificEvents,
  standard: standardEvents,
}
