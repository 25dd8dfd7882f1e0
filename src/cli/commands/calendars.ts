import type { Command } from '../command/command.ts'
import { fields, filters } from '../flags/calendars.ts'
import { call } from '../operation/operation-command.ts'
import { valueAt } from '../output/columns.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.calendars

const columns = ['courseTitle', 'userEmail', 'last4', 'createdAt', 'id']

export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List calendars',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['calendars list', 'calendars list --course AAA-2014J'],
  }),
  call({
    name: 'create',
    summary: 'Create a calendar (its address is shown only once)',
    description:
      'Makes an address at which calendar programs read the dates of a course, or of all courses of a user. Anyone who has the\naddress can read them; revoke it when it is no longer needed.',
    operation: async () => (await contract()).create,
    fields,
    ifLost: 'revoke the calendar and create another',
    columns: ['courseTitle', 'userEmail', 'id', 'secretPath'],
    notes: (answer) => {
      const path = valueAt(answer, 'secretPath')
      return typeof path === 'string'
        ? `Calendar programs subscribe to the URL of your server followed by ${path}`
        : null
    },
    examples: ['calendars create --course AAA-2014J', 'calendars create --user 6516 -o json'],
  }),
  call({
    name: 'revoke',
    summary: 'Revoke calendars',
    operation: async () => (await contract()).revoke,
    arguments: { calendarId: { name: 'calendar', summary: 'Id of the calendar' } },
    several: 'calendars',
    destroys: {
      action: ({ arguments: { calendar } }) => `revoke calendar ${calendar}`,
      read: async (look, { arguments: { calendar = '' } }) => look.find((await contract()).list, calendar),
      question: async (_, { arguments: { calendar } }, found) => ({
        text: `Revoke the calendar of ${nameOf(found, calendar)}`,
        consequence: 'Programs that read it get nothing more.',
      }),
      several: async () => ({ consequence: 'Programs that read them get nothing more.' }),
    },
    done: (found, { arguments: { calendar } }) => `Revoked the calendar of ${nameOf(found, calendar)}`,
    examples: ['calendars revoke "$CALENDAR_ID" --yes'],
  }),
]

/** The course or user of a calendar, else `given`. */
function nameOf(thing: unknown, given = ''): string {
  return String(valueAt(thing, 'courseTitle') ?? valueAt(thing, 'userEmail') ?? given)
}
