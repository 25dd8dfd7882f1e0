import { CalendarInput, calendars } from '../../contract/calendars.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(CalendarInput)

export const filters = filtersOf(calendars.list, {
  course_id: { placeholder: 'course' },
  user_id: { kind: 'texts', placeholder: 'user' },
})
