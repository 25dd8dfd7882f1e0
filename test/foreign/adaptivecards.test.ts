import { AdaptiveCard, SerializationContext, Version } from 'adaptivecards'
import { expect, test } from 'vitest'
import { teamsMessage } from '../../src/server/events/endpoint-kinds.ts'

/** What the renderer of Microsoft finds in a card of version 1.4. */
function faultsOf(card: object): string[] {
  const context = new SerializationContext(new Version(1, 4))
  new AdaptiveCard().parse(card, context)
  return Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index).message)
}

test('the library of Adaptive Cards accepts the cards for Teams', () => {
  const link = 'https://academy.example/dashboard'
  for (const lines of [[], ['Learner S-1 completed *Logic*.', 'Course [a](b) was published.']]) {
    const [attachment] = teamsMessage({ title: '2 events', lines, link }).attachments
    expect(faultsOf(attachment?.content ?? {})).toEqual([])
  }
  expect(faultsOf({ type: 'AdaptiveCard', version: '1.4', body: [{ type: 'Fish' }] })).not.toEqual([])
})
