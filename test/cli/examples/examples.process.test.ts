import { describe } from 'vitest'
import { testExamples } from './test-examples.ts'

describe('examples in help', () => testExamples('processes'))
