export {
  callerOfReceiver,
  isReceiverId,
  issueReceiverToken,
  provedReceiver,
  unknownReceiver,
} from './transmitter.tokens.service.ts';
