package coact.peer.savina;

import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import coact.peer.harness.Work;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A barber, a room with some places to wait, and customers who come again if it is full. */
public final class SleepingBarber {
    private record Size(int haircuts, int places, int production, int haircut) {}

    private record Enter(ActorRef customer) {}

    private record Serve(ActorRef customer) {}

    private enum Signal { FULL, RETURNED, START, DONE, NEXT }

    private SleepingBarber() {}

    public static void start(Run run) {
        Size size = new Size(
                run.count("haircuts"), run.count("places"), run.count("production"), run.count("haircut"));
        run.begin(size.haircuts());
        run.spawn(Props.create(Factory.class, () -> new Factory(run, size)));
    }

    private static final class Factory extends UntypedAbstractActor {
        private final Run run;
        private final Size size;
        private final ActorRef room;
        private int haircuts;

        Factory(Run run, Size size) {
            this.run = run;
            this.size = size;
            ActorRef barber = getContext().actorOf(Props.create(Barber.class, () -> new Barber(size.haircut())));
            room = getContext().actorOf(Props.create(Room.class, () -> new Room(size.places(), barber)));
        }

        @Override
        public void preStart() {
            Random16 random = new Random16(1);
            Props props = Props.create(Customer.class, Customer::new);
            for (int number = 0; number < size.haircuts(); number++) {
                room.tell(new Enter(getContext().actorOf(props)), getSelf());
                Work.spin(random.below(size.production()) + 10);
            }
        }

        @Override
        public void onReceive(Object message) {
            if (message == Signal.RETURNED) {
                room.tell(new Enter(getSender()), getSelf());
            } else if (++haircuts == size.haircuts()) {
                run.finish(haircuts);
            }
        }
    }

    private static final class Room extends UntypedAbstractActor {
        private final int places;
        private final ActorRef barber;
        private final Queue<ActorRef> waiting = new ArrayDeque<>();
        private boolean barberSleeps = true;

        Room(int places, ActorRef barber) {
            this.places = places;
            this.barber = barber;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Enter enter) {
                enter(enter.customer());
            } else {
                barberSleeps = true;
                serve();
            }
        }

        private void enter(ActorRef customer) {
            if (waiting.size() == places) {
                customer.tell(Signal.FULL, getSelf());
            } else {
                waiting.add(customer);
                serve();
            }
        }

        private void serve() {
            if (barberSleeps && !waiting.isEmpty()) {
                barberSleeps = false;
                barber.tell(new Serve(waiting.poll()), getSelf());
            }
        }
    }

    private static final class Barber extends UntypedAbstractActor {
        private final int haircut;
        private final Random16 random = new Random16(2);

        Barber(int haircut) {
            this.haircut = haircut;
        }

        @Override
        public void onReceive(Object message) {
            ActorRef customer = ((Serve) message).customer();
            customer.tell(Signal.START, getSelf());
            Work.spin(random.below(haircut) + 10);
            customer.tell(Signal.DONE, getSelf());
            getSender().tell(Signal.NEXT, getSelf());
        }
    }

    private static final class Customer extends UntypedAbstractActor {
        @Override
        public void onReceive(Object message) {
            if (message == Signal.FULL) {
                getContext().getParent().tell(Signal.RETURNED, getSelf());
            } else if (message == Signal.DONE) {
                getContext().getParent().tell(Signal.DONE, getSelf());
            }
        }
    }
}
