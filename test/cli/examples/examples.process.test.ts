import { describe } from 'vitest'
import { testExamples } from './help-examples.ts'

describe('examples in help', () => testExamples('processes'))
