import { valueAt } from '../../tables/column.ts'
import type { Command } from '../command/command.ts'
import { calendarFlags } from '../flags/access.ts'
import { call } from '../operation/operation-command.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.calendars

const calendar = recordCommands({
  operations: contract,
  argument: { name: 'calendar', summary: 'Id of the calendar' },
  columns: ['courseTitle', 'userEmail', 'last4', 'createdAt', 'id'],
  ...calendarFlags,
  nameOf: (calendar, { arguments: names }) =>
    `the calendar of ${valueAt(calendar, 'courseTitle') ?? valueAt(calendar, 'userEmail') ?? names['calendar']}`,
})

export const commands: readonly Command[] = [
  calendar.list({ examples: ['calendars list', 'calendars list --course AAA-2014J'] }),
  call({
    name: 'create',
    summary: 'Create a calendar (its address is shown only once)',
    description:
      'Makes an address at which calendar programs read the dates of a course, or of all courses of a user. Anyone who has the\naddress can read them; revoke it when it is no longer needed.',
    operation: async () => (await contract()).create,
    fields: calendarFlags.fields,
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
  calendar.revoke({
    destroys: { action: ({ arguments: { calendar } }) => `revoke calendar ${calendar}` },
    consequence: 'Programs that read it get nothing more.',
    consequences: 'Programs that read them get nothing more.',
    examples: ['calendars revoke "$CALENDAR_ID" --yes'],
  }),
]
